x=$(echo <<A
body
A
); echo "[$x]"