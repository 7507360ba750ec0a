package gitexec

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Target is the place where git requests a repository.
type Target struct {
	URL *url.URL
	// Remote is the address as it is configured, which conditions in the user's configuration refer to.
	Remote string
	// User has the credentials that the setting adds to an http address.
	User *url.Userinfo
	// Home is set if the path of user@host:path begins in the home directory. URL.Path has a slash anyway.
	Home bool
	// Setting is the user's setting that replaces the address, redacted.
	Setting string
	// NamesHost is set if the setting has the whole host, with its port. Otherwise the address that it replaces
	// determines how the host ends, so that credentials and rules for hosts that the user names do not apply.
	NamesHost bool
}

func (t Target) Text() string {
	if !t.Home {
		return t.URL.String()
	}
	host := t.URL.Host
	if user := t.URL.User.Username(); user != "" {
		host = user + "@" + host
	}
	return host + ":" + strings.TrimPrefix(t.URL.Path, "/")
}

// Target applies url.<base>.insteadOf to an address, once and by git's rule: the longest prefix counts. The
// result is parsed like any other address, so the caller can judge it. The error is about the replacement.
func (s *Settings) Target(address *url.URL) (Target, error) {
	text := address.String()
	rule, found := s.insteadOf(text)
	if !found {
		return Target{URL: address, Remote: text}, nil
	}
	result := rule.base + strings.TrimPrefix(text, rule.prefix)
	t, err := parseTarget(result)
	t.Remote = text
	t.Setting = "url." + addrs.Redact(rule.base) + ".insteadOf = " + addrs.Redact(rule.prefix)
	if err == nil && s.replacesAgain(t.Text()) {
		err = errors.New("another rule replaces the whole result")
	}
	if err != nil {
		return Target{}, fmt.Errorf("git's setting %s: %w", t.Setting, err)
	}
	t.NamesHost = endOfHost(result) <= len(rule.base)
	if t.URL.Scheme != "https" && t.URL.Scheme != "http" {
		return t, nil
	}
	if t.NamesHost {
		t.User = t.URL.User
	}
	t.URL.User = nil
	return t, nil
}

type insteadOf struct{ base, prefix string }

// addInsteadOf adds a rule behind those with the same base, as git does.
func (s *Settings) addInsteadOf(rule insteadOf) {
	at := len(s.instead)
	for i, other := range s.instead {
		if other.base == rule.base {
			at = i + 1
		}
	}
	s.instead = slices.Insert(s.instead, at, rule)
}

// insteadOf returns the rule with the longest prefix, and of several the first.
func (s *Settings) insteadOf(address string) (longest insteadOf, found bool) {
	for _, rule := range s.instead {
		if strings.HasPrefix(address, rule.prefix) && (!found || len(rule.prefix) > len(longest.prefix)) {
			longest, found = rule, true
		}
	}
	return longest, found
}

// replacesAgain reports whether git would replace the result, although it is set as its own replacement.
func (s *Settings) replacesAgain(result string) bool {
	rule, found := s.insteadOf(result)
	return found && rule.prefix == result && rule.base != result
}

// endOfHost returns the length of a text up to the end of its host and port. It is 0 for a path.
func endOfHost(text string) int {
	scheme, rest, isURL := strings.Cut(text, "://")
	switch {
	case isURL:
		host, _, _ := strings.Cut(rest, "/")
		return len(scheme) + len("://") + len(host)
	case filepath.IsAbs(text):
		return 0
	}
	host, _, _ := strings.Cut(text, ":")
	return len(host)
}

// parseTarget parses a URL, [USER@]HOST:PATH, or a path.
func parseTarget(text string) (t Target, err error) {
	u := &url.URL{}
	at, path, isShort := strings.Cut(text, ":")
	switch {
	case strings.Contains(text, "://"):
		if u, err = url.Parse(text); err != nil {
			return Target{}, errors.New("the result is not a valid URL") // the error may contain a password
		}
	case filepath.IsAbs(text):
		u.Scheme, u.Path = "file", filepath.ToSlash(text)
		if !strings.HasPrefix(u.Path, "/") {
			u.Path = "/" + u.Path // on Windows
		}
	case isShort && !strings.Contains(at, "/") && !strings.HasPrefix(path, ":"):
		u.Scheme, u.Host = "ssh", at
		if i := strings.LastIndexByte(at, '@'); i >= 0 {
			u.User, u.Host = url.User(at[:i]), at[i+1:]
		}
		t.Home = !strings.HasPrefix(path, "/")
		u.Path = "/" + strings.TrimPrefix(path, "/")
	default:
		return Target{}, errors.New("the result is neither a URL nor an absolute path")
	}
	location, err := addrs.LocationOf(u)
	if err != nil {
		return Target{}, err
	}
	t.URL = location.URL()
	return t, nil
}
