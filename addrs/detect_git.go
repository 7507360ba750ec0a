package addrs

import (
	"errors"
	"net/url"
	"strings"
)

// detectGit recognizes git@HOST:PATH[?QUERY], the short form of git over ssh. The user must
// be "git". The query is parsed before the user is checked. So a malformed query is an
// error in any address with a colon in the right place, even in an absolute path.
func detectGit(src string) (string, bool, error) {
	user, host, rest, ok := splitSCP(src)
	if !ok {
		return "", false, nil
	}
	file, query, _ := strings.Cut(rest, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", false, errors.New("the query string is malformed")
	}
	if user != "git" {
		return "", false, nil
	}
	u := url.URL{
		Scheme: "ssh",
		User:   url.User(user),
		Host:   host,
		Path:   file,
		// This sorts by key. All other detectors keep the order.
		RawQuery: values.Encode(),
	}
	return "git::" + u.String(), true, nil
}

// splitSCP splits [USER@]HOST:[/]PATH. The user ends at the first "@" and the host at the
// next ":". If that does not match, the "@" can be part of the host or the path.
func splitSCP(src string) (user, host, file string, ok bool) {
	if before, after, found := strings.Cut(src, "@"); found && before != "" {
		if host, file, ok := splitHostPath(after); ok {
			return before, host, file, true
		}
	}
	host, file, ok = splitHostPath(src)
	return "", host, file, ok
}

func splitHostPath(s string) (host, file string, ok bool) {
	host, file, found := strings.Cut(s, ":")
	if !found || host == "" || file == "" || strings.Contains(file, "\n") {
		return "", "", false
	}
	if file != "/" {
		file = strings.TrimPrefix(file, "/")
	}
	return host, file, true
}
