package gitcmd

// MaxStderr is how much of git's words an error keeps.
const MaxStderr = maxStderr
