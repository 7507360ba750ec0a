package addrs

import (
	"net/url"
	"path/filepath"
)

// ModulePackage is the physical location of a module package: everything of a
// remote source address but its subdir, for example
// "git::https://example.com/net.git?ref=v1.2.0". It may hold credentials that
// the user wrote; show it by [ModulePackage.Redacted] only.
type ModulePackage string

// String is the exact text.
func (p ModulePackage) String() string { return string(p) }

// Redacted is the text with all secrets taken out; see [Redact].
func (p ModulePackage) Redacted() string { return Redact(string(p)) }

// Getter names what is to fetch the package: the forced getter in front of
// "::", as it is written, or else the scheme of the URL in lower case. It is
// "" if there is neither. Any name is possible, not just known ones.
func (p ModulePackage) Getter() string {
	forced, rest := cutForced(string(p))
	if forced != "" {
		return forced
	}
	if filepath.VolumeName(rest) != "" {
		return "file" // C:\dir, which stays as it is on Windows
	}
	u, err := url.Parse(rest)
	if err != nil {
		return ""
	}
	return u.Scheme
}

// URL is the part of the address behind the forced getter. The error, a
// *[ParseError], says nothing of the reason, as that might quote a secret.
func (p ModulePackage) URL() (*url.URL, error) {
	_, rest := cutForced(string(p))
	if filepath.VolumeName(rest) != "" {
		return &url.URL{Scheme: "file", Path: "/" + filepath.ToSlash(rest)}, nil
	}
	u, err := url.Parse(rest)
	if err != nil {
		return nil, &ParseError{What: "module package address", Input: string(p), Reason: "its URL is malformed"}
	}
	return u, nil
}
