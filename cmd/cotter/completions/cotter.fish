# fish completion of cotter: cotter completion fish > ~/.config/fish/completions/cotter.fish
#
# cotter itself says what can stand at the cursor, a candidate a line with a tab and
# what it means, or :files or :dirs. Nothing that was typed or read is evaluated.
function __cotter_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':files*'
                __fish_complete_path "$current"
            case ':dirs*'
                __fish_complete_directories "$current"
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c cotter -f -a '(__cotter_complete)'
