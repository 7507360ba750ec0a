package policy

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Pattern matches locations of modules; see the package comment. The zero value allows nothing and denies
// everything.
type Pattern struct {
	text string
	// at has the host, port and path. The host may be "" for this machine or "*" for all, and below stands
	// for all hosts below it.
	at    location
	below bool
}

func (p Pattern) String() string { return p.text }

// ParsePattern parses a pattern such as "github.com/acme", "*.corp.example" or "/srv/modules".
func ParsePattern(text string) (Pattern, error) {
	switch {
	case text == "":
		return Pattern{}, errors.New("the pattern is empty")
	case strings.Contains(text, "://") || strings.Contains(text, "::") && !strings.HasPrefix(text, "["):
		return Pattern{}, fmt.Errorf("%q names a transport; a pattern is HOST/PATH and stands for all transports", text)
	case strings.ContainsAny(text, "?#@ \t\r\n"):
		return Pattern{}, fmt.Errorf("%q is not HOST/PATH: it must have no user, query or space", text)
	}
	host, rest, _ := strings.Cut(text, "/")
	if "/"+strings.TrimSuffix(rest, "/") != path.Clean("/"+rest) {
		return Pattern{}, fmt.Errorf("%q has an empty element, \".\" or \"..\" in its path", text)
	}
	decoded, err := url.PathUnescape(rest)
	if err != nil {
		return Pattern{}, fmt.Errorf("%q has a malformed escape in its path", text)
	}
	u := &url.URL{Scheme: "https", Path: "/" + decoded, RawPath: "/" + rest}
	p := Pattern{text: text}
	name := host
	if name != "" && name != "*" {
		if name, p.below = strings.CutPrefix(host, "*."); !setHost(u, name) {
			return Pattern{}, fmt.Errorf("%q: %q is neither a hostname nor \"*.\" and a hostname", text, host)
		}
		name = u.Hostname()
	}
	at, err := addrs.LocationOf(u)
	if err != nil {
		return Pattern{}, fmt.Errorf("%q is not HOST/PATH: %w", text, err)
	}
	for _, element := range at.Path() {
		if _, err := path.Match(element, ""); err != nil {
			return Pattern{}, fmt.Errorf("%q has a malformed element %q", text, element)
		}
	}
	p.at = location{host: at.Host(), port: at.Port(), path: withoutSuffix(at.Path()), bucket: at.Bucket(), key: at.KeyElements()}
	if name == "*" {
		p.at.host = name
	}
	return p, nil
}

func setHost(u *url.URL, written string) bool {
	parsed, err := url.Parse("https://" + written)
	if err != nil || parsed.Hostname() == "" || strings.Contains(parsed.Hostname(), "*") {
		return false
	}
	u.Host = parsed.Host
	return true
}

func (p Pattern) allows(at location) bool {
	if p.text == "" || p.at.host != "*" && !(p.at.port == "" && at.usual) && !p.hasPort(at) {
		return false
	}
	return p.hasHost(at.host) && hasPath(p.at.path, at.path, match) || p.hasBucket(at, match)
}

// denies matches for deny_sources. It ignores case, because many servers do, and what some ignore at the
// end of an element.
func (p Pattern) denies(at location) bool {
	switch {
	case p.text == "":
		return true
	case p.at.port != "" && !p.hasPort(at):
		return false
	}
	return p.hasHost(at.host) && hasPath(p.at.path, at.path, matchLoosely) || p.hasBucket(at, matchLoosely)
}

func match(pattern, element string) bool {
	ok, _ := path.Match(pattern, element)
	return ok
}

func matchLoosely(pattern, element string) bool {
	pattern = strings.ToLower(pattern)
	return match(pattern, strings.ToLower(element)) || match(pattern, loose(element))
}

// hasPort reports whether the pattern names the port. 443 also matches the usual port of a transport.
func (p Pattern) hasPort(at location) bool {
	return p.at.port != "" && p.at.port == at.port || p.at.port == usualPorts["https"] && at.usual
}

func (p Pattern) hasHost(host string) bool {
	if p.below {
		return strings.HasSuffix(host, "."+p.at.host)
	}
	return p.at.host == host || p.at.host == "*" && host != ""
}

// hasBucket reports whether both are at the same place of an object store, however their hosts are spelled.
// The region does not matter if the pattern names a bucket, because these have unique names, or no region.
func (p Pattern) hasBucket(at location, matches func(pattern, element string) bool) bool {
	want, key := p.at.bucket, p.at.key
	switch {
	case want.Service == "" || want.Service != at.bucket.Service:
		return false
	case p.below: // the hosts of all buckets
		want.Name, key = "*", p.at.path
	case want.Name == "":
		return want.Region == "" || want.Region == at.bucket.Region
	}
	return at.bucket.Name != "" && matches(want.Name, at.bucket.Name) && hasPath(key, at.key, matches)
}

func hasPath(pattern, elements []string, matches func(pattern, element string) bool) bool {
	if len(pattern) > len(elements) {
		return false
	}
	for i, element := range pattern {
		if !matches(element, elements[i]) {
			return false
		}
	}
	return true
}
