echo $(case x in (*) cat <<EOF
hi
EOF
 ;; esac; echo b)
