package eval

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zclconf/go-cty/cty/function"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
)

func (m *Meter) encodingFunctions() map[string]function.Function {
	return map[string]function.Function{
		"base64gzip":       textFunction(func(s []string) (string, error) { return base64Gzip(s[0]) }, "str"),
		"base64gunzip":     textFunction(func(s []string) (string, error) { return m.base64Gunzip(s[0]) }, "str"),
		"textencodebase64": textFunction(func(s []string) (string, error) { return encodeText(s[0], s[1]) }, "string", "encoding"),
		"textdecodebase64": textFunction(func(s []string) (string, error) { return decodeText(s[0], s[1]) }, "source", "encoding"),
		"uuidv5":           textFunction(func(s []string) (string, error) { return uuidV5(s[0], s[1]) }, "namespace", "name"),
	}
}

// base64Gzip flushes before the end, as the stock tools do, so that its bytes are theirs.
func base64Gzip(text string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := io.WriteString(w, text)
	if err := errors.Join(err, w.Flush(), w.Close()); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

func (m *Meter) base64Gunzip(text string) (string, error) {
	packed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxString+1))
	switch {
	case err != nil:
		return "", err
	case len(plain) > maxString:
		m.err = ErrTooMuchWork
		return "", m.err
	case !m.charge(int64(len(plain))):
		return "", m.err
	case !utf8.Valid(plain):
		return "", errors.New("the unpacked bytes are not UTF-8")
	}
	return string(plain), nil
}

func encodingNamed(name string) (encoding.Encoding, error) {
	found, err := ianaindex.IANA.Encoding(name)
	if err != nil || found == nil {
		return nil, fmt.Errorf("%q is no supported encoding of the IANA registry", name)
	}
	return found, nil
}

func encodeText(text, name string) (string, error) {
	to, err := encodingNamed(name)
	if err != nil {
		return "", err
	}
	encoded, err := to.NewEncoder().String(text)
	if err != nil {
		return "", fmt.Errorf("the text has characters that %q does not have", name)
	}
	return base64.StdEncoding.EncodeToString([]byte(encoded)), nil
}

func decodeText(source, name string) (string, error) {
	from, err := encodingNamed(name)
	if err != nil {
		return "", err
	}
	encoded, err := base64.StdEncoding.DecodeString(source)
	if err != nil {
		return "", err
	}
	text, err := from.NewDecoder().Bytes(encoded)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return "", fmt.Errorf("the bytes are no text in %q", name)
	}
	return string(text), nil
}

// Namespaces of RFC 9562, section 6.6.
var namespaces = map[string]string{
	"dns":  "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
	"url":  "6ba7b811-9dad-11d1-80b4-00c04fd430c8",
	"oid":  "6ba7b812-9dad-11d1-80b4-00c04fd430c8",
	"x500": "6ba7b814-9dad-11d1-80b4-00c04fd430c8",
}

// uuidV5 returns the UUID of a name, by RFC 9562, section 5.5.
func uuidV5(namespace, name string) (string, error) {
	space := namespace
	if known, ok := namespaces[namespace]; ok {
		space = known
	}
	in, err := parseUUID(space)
	if err != nil {
		return "", fmt.Errorf("%q is neither dns, url, oid or x500, nor a UUID", namespace)
	}
	sum := sha1.Sum(append(in, name...))
	sum[6], sum[8] = sum[6]&0x0f|0x50, sum[8]&0x3f|0x80
	id := sum[:16]
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]), nil
}

// parseUUID reads the forms that the stock tools accept: with and without hyphens, in braces, and as a URN.
func parseUUID(text string) ([]byte, error) {
	switch {
	case len(text) == 36+len("urn:uuid:") && strings.EqualFold(text[:len("urn:uuid:")], "urn:uuid:"):
		text = text[len("urn:uuid:"):]
	case len(text) == 38 && text[0] == '{' && text[37] == '}':
		text = text[1:37]
	}
	if len(text) == 36 {
		for _, at := range []int{8, 13, 18, 23} {
			if text[at] != '-' {
				return nil, errors.New("a hyphen is missing")
			}
		}
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	}
	id, err := hex.DecodeString(text)
	if err == nil && len(id) != 16 {
		err = errors.New("the length is wrong")
	}
	return id, err
}
