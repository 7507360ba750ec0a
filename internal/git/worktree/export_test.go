package worktree

// IgnoreLine returns the line of a .gitignore file in a directory that decides about a path from Top; 0 if git does not
// ignore it.
func IgnoreLine(dir, content, name string) (int, error) {
	rule, err := findIgnore([]ignoreFile{parseIgnores("", dir, content)}, name, false)
	if err != nil || rule == nil {
		return 0, err
	}
	return rule.Line, nil
}

var ParseIndex = parseIndex
