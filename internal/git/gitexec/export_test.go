package gitexec

import (
	"net/url"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// MaxStderr is the number of bytes of git's error output that an error keeps.
const MaxStderr = sanitize.MaxKept

// These are the parsers of git's output.
var (
	ParseFetchHead = parseFetchHead
	ParseListing   = parseListing
)

// MatchesURL reports whether settings for a pattern apply to a URL.
func MatchesURL(pattern string, u *url.URL) bool {
	p, ok := parseURLPattern(pattern)
	if !ok {
		return false
	}
	_, ok = p.match(u)
	return ok
}

// ParseAnswer parses the first line of an answer of git cat-file.
func ParseAnswer(line string, kind git.Kind) (id string, size int64, err error) {
	o, err := new(CatFile).begin(line, kind)
	if err != nil {
		return "", 0, err
	}
	return o.ID, o.Size, nil
}
