package addrs

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// errUnrecognised is the failure of an address that no detector claims.
var errUnrecognised = errors.New(`it is not recognised as a registry address or a remote package; a path to a local module must begin with "./" or "../"`)

// errEmpty is the failure of an address of which nothing is left to detect.
var errEmpty = errors.New("it names no package")

// detector rewrites one kind of shorthand into a URL, perhaps with a forced
// getter and a subdirectory. It reports false for text that is not of its
// kind. An error ends the detection.
type detector func(src string) (found string, ok bool, err error)

// detectors are those of OpenTofu in its order, which matters: most of them
// look for a piece of text anywhere in the address.
func detectors() [6]detector {
	return [...]detector{detectGitHub, detectGit, detectBitbucket, detectGCS, detectS3, detectFile}
}

// detect makes a package address, with a subdirectory if a shorthand implies
// one, of what a user wrote. Text that is a URL with a scheme is not changed.
func detect(addr string) (string, error) {
	forced, src := cutForced(addr)
	// A second split finds something only behind a forced getter, as in
	// "git:://x", where the first one took the colon for a scheme's.
	src, subdir := SplitSubdir(src)
	if u, err := url.Parse(src); err == nil && u.Scheme != "" {
		return addr, nil
	}
	if src == "" {
		return "", errEmpty
	}
	for _, detect := range detectors() {
		found, ok, err := detect(src)
		if err != nil {
			return "", err
		}
		if ok {
			return assemble(forced, found, subdir)
		}
	}
	return "", errUnrecognised
}

// assemble puts together what a detector found and what the user had written
// around the shorthand. The user's getter wins over the detector's.
func assemble(forced, found, subdir string) (string, error) {
	implied, location := cutForced(found)
	location, own := SplitSubdir(location)
	switch {
	case own != "" && subdir != "":
		subdir = path.Join(own, subdir)
	case own != "":
		subdir = own
	}
	if subdir != "" {
		var err error
		if location, err = appendSubdir(location, subdir); err != nil {
			return "", err
		}
	}
	if forced == "" {
		forced = implied
	}
	if forced == "" {
		return location, nil
	}
	return forced + "::" + location, nil
}

// appendSubdir goes through a URL as go-getter does, because escapes change on
// that way: a percent sign that a detector escaped is escaped once more.
func appendSubdir(location, subdir string) (string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", errors.New("the URL that it stands for is malformed")
	}
	u.Path += "//" + subdir
	// Keeps a glob in the subdirectory unescaped.
	u.RawPath = u.Path
	return u.String(), nil
}

// cutForced cuts the forced getter, as in "git::https://...", off an address.
// The getter is letters and digits; the rest may be anything on one line.
func cutForced(addr string) (getter, rest string) {
	getter, rest, found := strings.Cut(addr, "::")
	if !found || rest == "" || !isAlphanumeric(getter) || strings.Contains(rest, "\n") {
		return "", addr
	}
	return getter, rest
}

func isAlphanumeric(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}
