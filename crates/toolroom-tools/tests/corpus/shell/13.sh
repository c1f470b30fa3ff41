echo a |& { read -r x; echo "$x"; }; echo {a,b}{1..3} \* '*' "*" \\ a\
b