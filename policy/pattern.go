package policy

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/cotterpin/cotter/internal/hostname"
)

// Pattern matches locations of modules; the package comment describes the format.
// [ParsePattern] returns patterns; the zero value matches nothing.
type Pattern struct {
	text string
	host string // "" for this machine, "*" for all hosts, "*.NAME" for all hosts below NAME
	port string
	path []string
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// ParsePattern parses a pattern such as "github.com/acme", "*.corp.example" or
// "/srv/modules".
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
	p := Pattern{text: text, path: elements(rest)}
	if "/"+strings.TrimSuffix(rest, "/") != path.Clean("/"+rest) {
		return Pattern{}, fmt.Errorf("%q has an empty element, \".\" or \"..\" in its path", text)
	}
	for _, element := range p.path {
		if _, err := path.Match(element, ""); err != nil {
			return Pattern{}, fmt.Errorf("%q has a malformed element %q", text, element)
		}
	}
	if err := p.setHost(host); err != nil {
		return Pattern{}, fmt.Errorf("%q: %w", text, err)
	}
	return p, nil
}

func (p *Pattern) setHost(written string) error {
	if written == "" || written == "*" {
		p.host = written
		return nil
	}
	below := strings.HasPrefix(written, "*.")
	u, err := url.Parse("https://" + strings.TrimPrefix(written, "*."))
	if err != nil || u.Hostname() == "" || strings.Contains(u.Hostname(), "*") {
		return fmt.Errorf("%q is neither a hostname nor \"*.\" and a hostname", written)
	}
	p.host, p.port = hostname.Canonical(u.Hostname()), canonicalPort(u.Port())
	if below {
		p.host = "*." + p.host
	}
	return nil
}

// allows reports whether the pattern matches a location, as a part of allow_sources.
func (p Pattern) allows(at location) bool {
	return p.text != "" && (p.host == "*" || p.port == "" && at.usual || p.hasPort(at)) && p.hasHost(at.host) && hasPath(p.path, at.path)
}

// denies reports whether the pattern matches a location, as a part of deny_sources. It ignores
// the case of paths, because many servers do.
func (p Pattern) denies(at location) bool {
	return p.text != "" && (p.port == "" || p.hasPort(at)) && p.hasHost(at.host) && hasPath(lower(p.path), lower(at.path))
}

// hasPort reports whether the pattern names the port of a location. 443 in a pattern also matches
// the usual port of a transport.
func (p Pattern) hasPort(at location) bool {
	return p.port != "" && p.port == at.port || p.port == usualPorts["https"] && at.usual
}

func (p Pattern) hasHost(host string) bool {
	if above, ok := strings.CutPrefix(p.host, "*."); ok {
		return strings.HasSuffix(host, "."+above)
	}
	return p.host == host || p.host == "*" && host != ""
}

// hasPath reports whether a path is at or below the path of a pattern.
func hasPath(pattern, elements []string) bool {
	if len(pattern) > len(elements) {
		return false
	}
	for i, element := range pattern {
		if ok, _ := path.Match(element, elements[i]); !ok {
			return false
		}
	}
	return true
}

func lower(elements []string) []string {
	lowered := make([]string, len(elements))
	for i, element := range elements {
		lowered[i] = strings.ToLower(element)
	}
	return lowered
}
