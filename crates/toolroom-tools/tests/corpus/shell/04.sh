r() { read -r a; read -r b <&3; echo $a $b; }
r <<A 3<<B
1
A
2
B
