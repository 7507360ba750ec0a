# bash completion of cotter. In ~/.bashrc: source <(cotter completion bash)
#
# cotter itself says what can stand at the cursor, a candidate a line with a tab and what it means, and
# last :NUMBER, which says whether names of files (0) or directories (16) can stand there too. Nothing
# that was typed or read is evaluated.
_cotter() {
	local line cur="${COMP_WORDS[COMP_CWORD]}" word words=()
	for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do # bash splits words at "="
		if [[ $word == = || ${words[*]: -1} == --*= ]] && ((${#words[@]})); then
			words[-1]+=$word
		else
			words+=("$word")
		fi
	done
	[[ $cur == = ]] && cur=
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:0) return ;; # as bash does by itself if there are no candidates
		:16)
			compopt -o filenames 2>/dev/null
			while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur")
			;;
		:*) ;;
		*) COMPREPLY+=("${line%%$'\t'*}") ;;
		esac
	done < <("$1" __complete "${words[@]}" 2>/dev/null)
	if ((${#COMPREPLY[@]} == 0)); then
		compopt +o default +o bashdefault 2>/dev/null
	fi
}
complete -o bashdefault -o default -F _cotter cotter
