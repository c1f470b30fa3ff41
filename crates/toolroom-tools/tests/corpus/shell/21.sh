git commit -m "$(cat <<'EOF'
Fix `it`

EOF
)" && git push
