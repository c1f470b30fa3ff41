cat() { while IFS= read -r l; do echo "$l"; done; }
cat <<A
x $((1+1)) \$v `echo y` "z"
A
cat <<'A'
$x `y`
A
cat <<-A
		x
	A
