# Completion of `toolroom` in bash: source this, for example from ~/.bashrc.
_toolroom() {
    # Bash has split the line at `=` and `:`; here words are what stands between spaces.
    local rest=$COMP_LINE word words=()
    for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
        if ((${#words[@]} == 0)) || [[ $rest == [[:space:]]* ]]; then
            words+=("$word")
        else
            words[-1]+=$word
        fi
        rest=${rest#"${rest%%[![:space:]]*}"}
        rest=${rest#"$word"}
    done
    local current=${words[-1]} IFS=$'\n'
    local candidates
    candidates=$(TOOLROOM_COMPLETE=bash _CLAP_IFS=$'\n' _CLAP_COMPLETE_INDEX=$((${#words[@]} - 1)) \
        _CLAP_COMPLETE_COMP_TYPE=${COMP_TYPE:-9} "${words[0]}" -- "${words[@]}" 2>/dev/null) || return
    # What stands before the last split is on the line already.
    local kept=${current%"${current##*[=:]}"}
    COMPREPLY=()
    for word in $candidates; do
        COMPREPLY+=("${word#"$kept"}")
    done
    if [[ ${COMPREPLY[0]} == *= ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
complete -o bashdefault -o default -F _toolroom toolroom
