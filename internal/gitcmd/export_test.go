package gitcmd

// MaxStderr is how much of git's words an error keeps.
const MaxStderr = maxStderr

// Excerpt is what is kept of git's words.
func Excerpt(said string, secrets ...string) string {
	var t tail
	_, _ = t.Write([]byte(said)) // cannot fail
	return t.excerpt(secrets)
}
