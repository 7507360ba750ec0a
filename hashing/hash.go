package hashing

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
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

// maxHashBytes is many times the length of a 512-bit hash. It matters for unknown schemes.
const maxHashBytes = 512

// ParseHash checks the form of a hash: a scheme of lower-case letters and digits, a colon and a value.
// h1: and t1: have 32 bytes in padded standard base64, and zh: 64 lower-case hexadecimal digits; other
// schemes may have any value, and are not [Hash.Known]. The error is a *[HashError].
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
		return "there is no value after the scheme"
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "it has characters that are not allowed in a hash"
	case (scheme == schemeH1 || scheme == schemeT1) && !isBase64Sum(value):
		return "the value must be the base64 form of 32 bytes, 44 characters with one = at the end"
	case scheme == schemeZH && (len(value) != 64 || strings.Trim(value, "0123456789abcdef") != ""):
		return "the value must be 64 lower-case hexadecimal digits"
	}
	return ""
}

// isBase64Sum accepts only the canonical encoding of a sum, so that hashes can be compared as strings.
func isBase64Sum(value string) bool {
	sum, err := base64.StdEncoding.DecodeString(value)
	return err == nil && len(sum) == 32 && base64.StdEncoding.EncodeToString(sum) == value
}

// Scheme returns the part before the colon, such as "h1".
func (h Hash) Scheme() string {
	scheme, _, found := strings.Cut(string(h), ":")
	if !found {
		return ""
	}
	return scheme
}

// Known reports whether h has a scheme of this package: h1, t1 or zh.
func (h Hash) Known() bool { return h.Strong() || h.Scheme() == schemeZH }

// Strong reports whether h can verify an installed tree: h1 and t1 can, zh covers only the archive.
func (h Hash) Strong() bool { return h.Scheme() == schemeH1 || h.Scheme() == schemeT1 }

// H1 returns the h1 hash of the tree; "" if the tree is nil, because nothing was read.
func (t *Tree) H1() Hash {
	if t == nil {
		return ""
	}
	lines := sha256.New()
	for _, e := range t.Entries {
		if e.isFile() || e.Kind == Link && e.Sum != [32]byte{} {
			fmt.Fprintf(lines, "%x  %s\n", e.Sum, e.Path)
		}
	}
	return encode(schemeH1, lines.Sum(nil))
}

func encode(scheme string, sum []byte) Hash {
	return Hash(scheme + ":" + base64.StdEncoding.EncodeToString(sum))
}

// T1 returns the t1 hash of the tree; "" if the tree is nil.
func (t *Tree) T1() Hash {
	if t == nil {
		return ""
	}
	hash := sha256.New()
	writeT1(hash, t.Entries)
	return encode(schemeT1, hash.Sum(nil))
}

// writeT1 writes the bytes whose SHA-256 is t1, to a writer that returns no errors.
func writeT1(w io.Writer, entries []Entry) {
	record := appendField(nil, schemeT1)
	record = binary.BigEndian.AppendUint64(record, uint64(len(entries)))
	_, _ = w.Write(record)
	for _, e := range entries {
		size, sum := e.content()
		record = appendField(record[:0], e.Path)
		record = append(record, byte(e.Kind))
		record = binary.BigEndian.AppendUint64(record, size)
		record = append(record, sum[:]...)
		_, _ = w.Write(record)
	}
}

func appendField(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

// content returns the size and the sum of an entry's own content: of a link, that of its target's name.
func (e Entry) content() (size uint64, sum [32]byte) {
	if e.isFile() {
		return uint64(e.Size), e.Sum
	}
	return uint64(len(e.Target)), sha256.Sum256([]byte(e.Target))
}
