# Completion of nnef-flatten in fish: put this file into ~/.config/fish/completions.
function __nnef_flatten_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..] "$current" 2>/dev/null)
    test (count $lines) -gt 1; and printf '%s\n' $lines[2..]
    test "$lines[1]" = files; and __fish_complete_path "$current"
end
complete -c nnef-flatten -f -a '(__nnef_flatten_complete)'
