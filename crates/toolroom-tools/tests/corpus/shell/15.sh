if true; then echo 1; elif false; then echo 2; else echo 3; fi; true && echo y || echo n; false || echo z &
wait