package addrs

import (
	"errors"
	"net/url"
	"strings"
)

// detectGitHub recognizes github.com/OWNER/REPO[/SUBDIR][?QUERY]. It cuts off the query
// first, so that a slash in a ref does not begin a subdirectory.
func detectGitHub(src string) (string, bool, error) {
	return detectForge("github.com", src)
}

// detectForge recognizes HOST/OWNER/REPO[/SUBDIR][?QUERY].
func detectForge(host, src string) (string, bool, error) {
	text, query, _ := strings.Cut(src, "?")
	if !strings.HasPrefix(text, host+"/") {
		return "", false, nil
	}
	parts := strings.SplitN(text, "/", 4)
	if len(parts) < 3 {
		return "", false, errors.New("an address at " + host + " needs the owner and the name of a repository")
	}
	u, err := url.Parse("https://" + strings.Join(parts[:3], "/"))
	if err != nil {
		return "", false, errors.New("the repository's URL is malformed")
	}
	// Use Path, not JoinPath or RawPath: the escapes of a repository are decoded if
	// something is appended, and unchanged otherwise.
	if !strings.HasSuffix(u.Path, ".git") {
		u.Path += ".git"
	}
	if len(parts) > 3 {
		u.Path += "//" + parts[3]
	}
	found := "git::" + u.String()
	if query != "" {
		found += "?" + query
	}
	return found, true, nil
}
