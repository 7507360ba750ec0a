# fish completion of cotter: cotter completion fish > ~/.config/fish/completions/cotter.fish
#
# cotter itself says what can stand at the cursor, a candidate a line with a tab and what it means, and
# last :NUMBER, which says whether names of files (0) or directories (16) can stand there too. Nothing
# that was typed or read is evaluated.
function __cotter_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l before (string match -r -- '^--[^=]*=' "$current")
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path "$current"
            case ':16'
                __fish_complete_directories "$current"
            case ':*'
            case '*'
                printf '%s%s\n' "$before" $line
        end
    end
end
complete -c cotter -f -a '(__cotter_complete)'
