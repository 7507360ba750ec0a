package git

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Lengths of object names, in hexadecimal digits.
const (
	SHA1Len   = 40
	SHA256Len = 64
)

// minShortLen is git's minimum for abbreviated names.
const minShortLen = 4

// maxRef is in bytes. File systems refuse longer names anyway.
const maxRef = 1024

// IsObjectID reports whether s is a full name in lower case.
func IsObjectID(s string) bool {
	return (len(s) == SHA1Len || len(s) == SHA256Len) && isHex(s)
}

// IsShortID reports whether s can be an abbreviated object name.
func IsShortID(s string) bool {
	return len(s) >= minShortLen && len(s) < SHA256Len && !IsObjectID(s) && isHex(s)
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// CheckRef checks that ref can be the name of a ref, in full or abbreviated, by the rules of
// git-check-ref-format(1). Expressions such as "main~2" or "v1^{}" are not names.
func CheckRef(ref string) error {
	switch {
	case ref == "":
		return errors.New("it is empty")
	case len(ref) > maxRef:
		return fmt.Errorf("it is longer than %d bytes", maxRef)
	case strings.HasPrefix(ref, "-"):
		return errors.New("it begins with \"-\"")
	case ref == "@", strings.Contains(ref, "@{"):
		return errors.New("it is an expression, not a name")
	case strings.Contains(ref, ".."), strings.HasSuffix(ref, "."):
		return errors.New("it has a \".\" where git does not allow one")
	case strings.ContainsAny(ref, " ~^:?*[\\\x7f"), strings.ContainsFunc(ref, isControl):
		return errors.New("it has a character that git does not allow in names")
	}
	for part := range strings.SplitSeq(ref, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("git does not allow the part %q in names", part)
		}
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' }

// CheckURL checks that u uses one of the protocols, and has nothing that git or ssh could mistake for an
// option.
func CheckURL(u *url.URL, protocols []string) error {
	password, _ := u.User.Password()
	switch {
	case u.Scheme == "":
		return errors.New("a remote must be a URL with a scheme")
	case !slices.Contains(protocols, u.Scheme):
		return fmt.Errorf("the transport %q is not allowed here, only %s", u.Scheme, strings.Join(protocols, ", "))
	case u.Opaque != "":
		return fmt.Errorf("the URL needs \"//\" after %q", u.Scheme+":")
	case u.Scheme == "file" && u.Host != "":
		return fmt.Errorf("a file URL has no host, but this one names %q", u.Host)
	case u.Scheme != "file" && u.Hostname() == "":
		return errors.New("the URL has no host")
	case strings.HasPrefix(u.Host, "-"), strings.HasPrefix(u.User.Username(), "-"):
		return errors.New("the URL has a host or user that begins with \"-\"")
	case u.Scheme == "ssh" && strings.ContainsAny(u.User.Username(), "/[]"):
		// Git decodes the whole URL before it looks for the end of the host.
		return errors.New("the URL has a user that git would read as a host")
	case strings.Trim(u.Path, "/") == "":
		return errors.New("the URL has no path")
	case strings.HasPrefix(strings.TrimLeft(u.Path, "/"), "-"):
		return errors.New("the URL has a path that begins with \"-\"")
	case strings.ContainsFunc(u.Host+u.Path+u.RawQuery+u.User.Username()+password, isControl):
		return errors.New("the URL has control characters")
	}
	return nil
}
