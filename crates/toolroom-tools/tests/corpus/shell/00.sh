echo a;echo b # c
echo d