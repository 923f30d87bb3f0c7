#compdef nnef-flatten
# Completion of nnef-flatten in zsh: source this file, or put it as `_nnef-flatten` into a folder of $fpath.
_nnef-flatten() {
    local -a lines candidates
    lines=("${(@f)$("${words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    candidates=("${(@)lines[2,-1]//:/\\:}")
    candidates=("${(@)candidates/$'\t'/:}")
    local found=1
    if (( ${#lines} > 1 )); then
        _describe -V 'nnef-flatten' candidates && found=0
    fi
    if [[ ${lines[1]} == files ]]; then
        _files && found=0
    fi
    return found
}
if [[ ${funcstack[1]} == _nnef-flatten ]]; then
    _nnef-flatten "$@"
else
    compdef _nnef-flatten nnef-flatten
fi
