package gitattr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/ianaindex"
)

var errNotUTF8 = errors.New("it is not UTF-8")

func isUTF8(name string) bool {
	name = strings.ToLower(name)
	return name == "" || name == "utf-8" || name == "utf8"
}

func encode(content []byte, name string) ([]byte, error) {
	if !utf8.Valid(content) {
		return nil, errNotUTF8
	}
	switch strings.ToUpper(strings.ReplaceAll(name, "-", "")) {
	case "UTF16", "UTF16LEBOM":
		return encodeUTF16(binary.LittleEndian, append([]byte("\uFEFF"), content...)), nil
	case "UTF16LE":
		return encodeUTF16(binary.LittleEndian, content), nil
	case "UTF16BE":
		return encodeUTF16(binary.BigEndian, content), nil
	case "UTF32":
		return encodeUTF32(binary.LittleEndian, append([]byte("\uFEFF"), content...)), nil
	case "UTF32LE":
		return encodeUTF32(binary.LittleEndian, content), nil
	case "UTF32BE":
		return encodeUTF32(binary.BigEndian, content), nil
	}
	found, err := ianaindex.IANA.Encoding(ianaName(name))
	if err != nil || found == nil {
		return nil, fmt.Errorf("the encoding %q is not known", name)
	}
	return found.NewEncoder().Bytes(content)
}

func encodeUTF16(order binary.AppendByteOrder, content []byte) []byte {
	out := make([]byte, 0, 2*len(content))
	for _, r := range string(content) {
		if first, second := utf16.EncodeRune(r); first != utf8.RuneError {
			out = order.AppendUint16(order.AppendUint16(out, uint16(first)), uint16(second))
			continue
		}
		out = order.AppendUint16(out, uint16(r))
	}
	return out
}

func encodeUTF32(order binary.AppendByteOrder, content []byte) []byte {
	out := make([]byte, 0, 4*len(content))
	for _, r := range string(content) {
		out = order.AppendUint32(out, uint32(r))
	}
	return out
}

// iconv accepts these in addition to the names of the IANA registry.
var (
	codePage = regexp.MustCompile(`(?i)^cp-?(125[0-8]|874)$`)
	isoPart  = regexp.MustCompile(`(?i)^iso_?8859[-_]?([0-9]+)$`)
	japanese = regexp.MustCompile(`(?i)^(sjis|shift-?jis)$`)
)

func ianaName(name string) string {
	if m := codePage.FindStringSubmatch(name); m != nil {
		return "windows-" + m[1]
	}
	if m := isoPart.FindStringSubmatch(name); m != nil {
		return "ISO-8859-" + m[1]
	}
	if japanese.MatchString(name) {
		return "Shift_JIS"
	}
	return name
}
