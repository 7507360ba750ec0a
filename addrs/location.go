package addrs

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/cotterpin/cotter/internal/net/hostname"
)

// Location is the place of a package, or of a request for one: a transport, a host and a path.
// [ModulePackage.Location] and [LocationOf] parse it. Policies judge a Location and getters send
// [Location.URL], so both mean the same place.
//
// An address whose path servers and clients could read in several ways is an error: one with an element
// ".", ".." or of spaces, in any escaping, or with a control character. Paths of this machine (file) are
// cleaned instead.
type Location struct {
	url  url.URL
	path []string
	in   place
}

// Location parses the address. The error is a *[ParseError], without the URL, which may hold a secret.
func (p ModulePackage) Location() (Location, error) {
	l, reason := p.locate()
	if reason != "" {
		return Location{}, &ParseError{What: "module package address", Input: Redact(p.String()), Reason: reason}
	}
	return l, nil
}

// malformedURL is the reason for an address that is not a URL. Stock tools find that out when they
// fetch it, so it is not an error of [ParseModuleSource].
const malformedURL = "its URL is malformed"

func (p ModulePackage) locate() (_ Location, reason string) {
	rest := p.parts().rest()
	if filepath.VolumeName(rest) != "" {
		return locate("file", &url.URL{Scheme: "file", Path: "/" + filepath.ToSlash(rest)})
	}
	u, err := url.Parse(rest)
	if err != nil {
		return Location{}, malformedURL
	}
	return locate(p.Getter(), u)
}

// LocationOf returns the location of a request, such as a redirect. The error is a *[ParseError].
func LocationOf(u *url.URL) (Location, error) {
	copied := *u
	l, reason := locate(strings.ToLower(u.Scheme), &copied)
	if reason != "" {
		return Location{}, &ParseError{What: "URL", Input: Redact(u.String()), Reason: reason}
	}
	return l, nil
}

func locate(getter string, u *url.URL) (_ Location, reason string) {
	hostname.NormalizeURL(u)
	l := Location{url: *u}
	isStore := getter == "s3" || getter == "gcs"
	switch {
	case (u.Scheme == "file" || u.Scheme == "") && u.Path != "":
		l.url.Path, l.url.RawPath = cleanPath(u.Path), ""
		l.path = splitDecoded(l.url.Path)
	case (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "oci") && !isStore:
		l.path = splitPath(u.EscapedPath())
	default: // for ssh and object stores, an escaped slash is like any other
		l.path = splitDecoded(u.Path)
	}
	host := l.Host()
	hasBrackets := strings.HasPrefix(l.url.Host, "[")
	switch {
	case strings.Contains(host, "%"), strings.Contains(l.url.Hostname(), ":") && !hasBrackets:
		return Location{}, "its host is neither a name nor an address"
	case host == "" && l.url.Host != "":
		return Location{}, "its host has no name"
	}
	if host != "" {
		for _, element := range l.path {
			if reason := refusedElement(element); reason != "" {
				return Location{}, reason
			}
		}
	}
	for i, element := range l.path {
		l.path[i] = canonicalElement(element)
	}
	return l.inStore(getter)
}

// cleanPath cleans a path of this machine. It keeps a final slash, as git does.
func cleanPath(p string) string {
	cleaned := path.Clean(p)
	if strings.HasSuffix(p, "/") && cleaned != "/" {
		cleaned += "/"
	}
	return cleaned
}

func splitPath(escaped string) []string {
	escaped = strings.TrimSuffix(strings.TrimPrefix(escaped, "/"), "/")
	if escaped == "" {
		return nil
	}
	return strings.Split(escaped, "/")
}

func splitDecoded(path string) []string { return splitPath(strings.ReplaceAll(path, "%", "%25")) }

var escapeAmbiguous = strings.NewReplacer("%", "%25", "/", "%2F")

// canonicalElement decodes an element of a path, except that an ambiguous "/" or "%" stays escaped.
func canonicalElement(escaped string) string {
	decoded, err := url.PathUnescape(escaped)
	if err != nil {
		return escaped
	}
	return escapeAmbiguous.Replace(decoded)
}

// refusedElement returns the reason for which an element must not be part of a path, or "". Servers
// decode an element once or twice, and some of them read a "\" as a "/" and ignore a parameter
// (";") or spaces after a name.
func refusedElement(element string) (reason string) {
	for range 2 {
		decoded, err := url.PathUnescape(element)
		if err != nil {
			return ""
		}
		element = decoded
		if strings.ContainsFunc(element, unicode.IsControl) {
			return "its path has a control character"
		}
		for _, part := range strings.FieldsFunc(element, isSeparator) {
			name, _, _ := strings.Cut(part, ";")
			switch name = strings.TrimRightFunc(name, unicode.IsSpace); name {
			case "":
				return "its path has an element that is only spaces or a parameter, which servers read in different ways; write the path without it"
			case ".", "..":
				return `its path has the element "` + name + `", which servers read in different ways; write the path without it`
			}
		}
	}
	return ""
}

// isSeparator knows that some servers read a backslash as a slash.
func isSeparator(c rune) bool { return c == '/' || c == '\\' }

// URL returns the URL to request, with credentials, arguments and fragment. A host that is a number, such
// as "127.1", becomes the address 127.0.0.1, because clients and resolvers read it differently.
func (l Location) URL() *url.URL {
	u := l.url
	return &u
}

// Host returns the host in lower case and ASCII, without port and final dot; "" for this machine.
func (l Location) Host() string { return hostname.Canonical(l.url.Hostname()) }

// Port returns the port without leading zeros; "" if the address has none.
func (l Location) Port() string {
	port := l.url.Port()
	return cmp.Or(strings.TrimLeft(port, "0"), port)
}

// Path returns the elements of the path, decoded, except that "%" is "%25" and a slash in an element
// is "%2F". A server may split an element at such a slash.
func (l Location) Path() []string { return slices.Clone(l.path) }

// Readings returns the locations that servers may read in the path: l itself and, if an element is empty or
// has an escaped slash or a backslash, the location that has separate elements instead, and no empty ones.
func (l Location) Readings() []Location {
	other := l.url
	other.Path, other.RawPath = "/"+strings.Join(strings.FieldsFunc(l.url.Path, isSeparator), "/"), ""
	if read, reason := locate(other.Scheme, &other); reason == "" && !slices.Equal(read.path, l.path) {
		return []Location{l, read}
	}
	return []Location{l}
}

// String returns the URL as [Redact] shows it.
func (l Location) String() string { return Redact(l.url.String()) }

// LogValue returns [Location.String] as a string.
func (l Location) LogValue() slog.Value { return slog.StringValue(l.String()) }

// Format implements [fmt.Formatter]. All verbs print [Location.String].
func (l Location) Format(state fmt.State, verb rune) { format(state, verb, l.String()) }
