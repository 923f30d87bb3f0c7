# Completion of nnef-flatten in bash: source this file, or put it into a folder of bash-completion.
_nnef_flatten() {
    local lines line
    COMPREPLY=()
    mapfile -t lines < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    for line in "${lines[@]:1}"; do
        COMPREPLY+=("${line%%$'\t'*}")
    done
    if [[ ${lines[0]} == files ]]; then
        compopt -o filenames
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$2")
    fi
}
complete -F _nnef_flatten nnef-flatten
