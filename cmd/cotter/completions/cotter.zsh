#compdef cotter
# zsh completion of cotter. In ~/.zshrc, behind compinit: source <(cotter completion zsh)
#
# cotter itself says what can stand at the cursor, a candidate a line with a tab and what it means, and
# last :NUMBER, which says whether names of files (0) or directories (16) can stand there too. Nothing
# that was typed or read is evaluated.
_cotter() {
	local line
	local -a values
	for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		:0) _files ;;
		:16) _files -/ ;;
		:*) ;;
		*$'\t'*) values+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
		?*) values+=("${line//:/\\:}") ;;
		esac
	done
	if (( $#values )); then
		compset -P '--[^=]#=' 2>/dev/null
		_describe -t values value values
	fi
}
if [[ $funcstack[1] == _cotter ]]; then
	_cotter "$@"
else
	compdef _cotter cotter
fi
