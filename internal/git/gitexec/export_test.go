package gitexec

import "github.com/cotterpin/cotter/internal/sanitize"

// MaxStderr is how much of git's words an error keeps.
const MaxStderr = sanitize.MaxKept

// Excerpt is what is kept of git's words.
func Excerpt(words string, secrets ...string) string {
	var t sanitize.Tail
	_, _ = t.Write([]byte(words)) // cannot fail
	return t.Excerpt(secrets)
}

// The parsers of what git writes.
var (
	ParseFetchHead = parseFetchHead
	ParseListing   = parseListing
	ParseAnswer    = parseAnswer
)
