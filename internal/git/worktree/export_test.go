package worktree

// ParseIndex is the parser of the list of the files in the index.
var ParseIndex = parseIndex
