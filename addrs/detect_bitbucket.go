package addrs

import (
	"errors"
	"strings"
)

// detectBitbucket recognizes bitbucket.org/OWNER/REPO[/SUBDIR][?QUERY] and parses it like
// [detectGitHub]. An empty owner or repository is an error, because stock tools query
// Bitbucket's API instead, which has no such repositories.
func detectBitbucket(src string) (string, bool, error) {
	const host = "bitbucket.org"
	text, _, _ := strings.Cut(src, "?")
	parts := strings.SplitN(text, "/", 4)
	if parts[0] == host && len(parts) > 2 && (parts[1] == "" || parts[2] == "") {
		return "", false, errors.New("the owner or the name of the repository is empty")
	}
	return detectForge(host, src)
}
