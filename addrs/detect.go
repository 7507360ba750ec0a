package addrs

import (
	"errors"
	"net/url"
	"path"
	"strings"
)

// errUnrecognised is the error for an address that no detector recognizes.
var errUnrecognised = errors.New(`it is not recognised as a registry address or a remote package; a path to a local module must begin with "./" or "../"`)

// errEmpty is the error for an address without a package.
var errEmpty = errors.New("it names no package")

// detector rewrites one kind of shorthand to a URL, which may have a forced getter and a
// subdirectory. It returns false for any other text. An error ends the detection.
type detector func(src string) (found string, ok bool, err error)

// detectors returns the detectors of OpenTofu, in its order. The order matters, because
// most of them search for text anywhere in the address.
func detectors() [6]detector {
	return [...]detector{detectGitHub, detectGit, detectBitbucket, detectGCS, detectS3, detectFile}
}

// detect converts the text that a user wrote to a package address. If a shorthand implies a
// subdirectory, the address has it. Text that is a URL with a scheme is not changed.
func detect(addr string) (string, error) {
	forced, src := cutForced(addr)
	// This second split finds something only after a forced getter, as in "git:://x", where
	// the first split took the colon for the one after a scheme.
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

// assemble joins the result of a detector with the text around the shorthand. The
// user's getter takes precedence over the detector's.
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

// appendSubdir parses and formats the URL, as go-getter does. This changes escapes: a
// percent sign that a detector escaped is escaped again.
func appendSubdir(location, subdir string) (string, error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", errors.New("the URL of the shorthand is malformed")
	}
	u.Path += "//" + subdir
	// This leaves a glob in the subdirectory unescaped.
	u.RawPath = u.Path
	return u.String(), nil
}

// cutForced cuts the forced getter off an address such as "git::https://...". The getter
// consists of letters and digits; the rest may be any text on one line.
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
