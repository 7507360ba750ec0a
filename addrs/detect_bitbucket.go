package addrs

import (
	"errors"
	"strings"
)

// detectBitbucket claims bitbucket.org/OWNER/REPO[/SUBDIR][?QUERY], and reads
// it as [detectGitHub] would. The stock tools ask the forge's API instead,
// which knows neither an empty owner nor an empty repository.
func detectBitbucket(src string) (string, bool, error) {
	const host = "bitbucket.org"
	text, _, _ := strings.Cut(src, "?")
	parts := strings.SplitN(text, "/", 4)
	if parts[0] == host && len(parts) > 2 && (parts[1] == "" || parts[2] == "") {
		return "", false, errors.New("the owner or the name of the repository is empty")
	}
	return detectForge(host, src)
}
