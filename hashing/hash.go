package hashing

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// Hash is a hash with its scheme, such as "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".
type Hash string

// The schemes that this package knows.
const (
	schemeH1 = "h1"
	schemeT1 = "t1"
	schemeZH = "zh" // SHA-256 of a zip or other archive, in hexadecimal
)

// maxHashBytes bounds hashes of unknown schemes, which are kept as they are.
// It has room for 512 bits many times over.
const maxHashBytes = 512

// ParseHash checks the form of a hash: a scheme of lower-case letters and
// digits, a colon and a value. The values of h1: and t1: are 32 bytes in padded
// standard base64, those of zh: 64 lower-case hexadecimal digits. Hashes of
// other schemes are accepted as they are and are not [Hash.Known]. An error is
// a *[HashError].
func ParseHash(s string) (Hash, error) {
	if reason := hashFault(s); reason != "" {
		return "", &HashError{Input: s, Reason: reason}
	}
	return Hash(s), nil
}

func hashFault(s string) string {
	if len(s) > maxHashBytes {
		return fmt.Sprintf("it is longer than %d bytes", maxHashBytes)
	}
	scheme, value, found := strings.Cut(s, ":")
	switch {
	case !found || scheme == "" || strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789") != "":
		return `it must begin with a scheme such as "h1:"`
	case value == "":
		return "there is nothing behind the scheme"
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "it has characters that no hash has"
	case (scheme == schemeH1 || scheme == schemeT1) && !isBase64Sum(value):
		return "the value must be the base64 form of 32 bytes, 44 characters with one = at the end"
	case scheme == schemeZH && (len(value) != 64 || strings.Trim(value, "0123456789abcdef") != ""):
		return "the value must be 64 lower-case hexadecimal digits"
	}
	return ""
}

// isBase64Sum accepts one spelling for each sum, so that hashes can be
// compared as strings.
func isBase64Sum(value string) bool {
	sum, err := base64.StdEncoding.DecodeString(value)
	return err == nil && len(sum) == 32 && base64.StdEncoding.EncodeToString(sum) == value
}

// Scheme returns what is in front of the colon, such as "h1".
func (h Hash) Scheme() string {
	scheme, _, found := strings.Cut(string(h), ":")
	if !found {
		return ""
	}
	return scheme
}

// Known reports whether h is of a scheme that this package knows: h1, t1 or zh.
func (h Hash) Known() bool { return h.Strong() || h.Scheme() == schemeZH }

// Strong reports whether h alone can prove an installed tree to be the right
// one: whether it is an h1 or a t1. A zh says something about an archive only,
// which is gone by then.
func (h Hash) Strong() bool { return h.Scheme() == schemeH1 || h.Scheme() == schemeT1 }
