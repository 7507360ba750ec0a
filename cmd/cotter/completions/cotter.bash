# bash completion of cotter. In ~/.bashrc: source <(cotter completion bash)
#
# cotter itself says what can stand at the cursor, a candidate a line with a tab and
# what it means, or :files or :dirs. Nothing that was typed or read is evaluated.
_cotter() {
	local line cur="${COMP_WORDS[COMP_CWORD]}" none=1
	COMPREPLY=()
	while IFS= read -r line; do
		none=
		case $line in
		:files*) ;; # as bash does by itself if there are no candidates
		:dirs*)
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur")
			;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ $none ]]; then
		compopt +o default +o bashdefault 2>/dev/null
	fi
}
complete -o bashdefault -o default -F _cotter cotter
