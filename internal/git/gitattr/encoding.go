package gitattr

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

var errNotUTF8 = errors.New("it is not UTF-8")

func isUTF8(name string) bool {
	name = strings.ToLower(name)
	return name == "" || name == "utf-8" || name == "utf8"
}

// utf are by names without hyphens. iconv writes UTF-16 and UTF-32 with a byte order mark, in the order of the machine.
var utf = map[string]encoding.Encoding{
	"UTF16":      unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"UTF16LEBOM": unicode.UTF16(unicode.LittleEndian, unicode.UseBOM),
	"UTF16LE":    unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"UTF16BE":    unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"UTF32":      utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
	"UTF32LE":    utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	"UTF32BE":    utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
}

func encode(content []byte, name string) ([]byte, error) {
	if !utf8.Valid(content) {
		return nil, errNotUTF8
	}
	found, ok := utf[strings.ToUpper(strings.ReplaceAll(name, "-", ""))]
	if !ok {
		var err error
		if found, err = ianaindex.IANA.Encoding(ianaName(name)); err != nil || found == nil {
			return nil, fmt.Errorf("the encoding %q is not known", name)
		}
	}
	return found.NewEncoder().Bytes(content)
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
