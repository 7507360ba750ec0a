package gitattr

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Conversion changes the content of a file on checkout. The zero value changes nothing.
type Conversion struct {
	crlf  bool
	auto  bool // text=auto: only if the content is text
	ident bool
	// streamed is set if git converts the file while it reads it, which affects "$Id$".
	streamed bool
	encoding string
}

// ErrEncoding means that git writes the content without working-tree-encoding.
var ErrEncoding = errors.New("the content cannot be written in the encoding that .gitattributes names")

var errNoEncoding = errors.New(`"working-tree-encoding" has no value in .gitattributes, and git does not check out such a file`)

func newConversion(found map[string]value) (Conversion, error) {
	c := Conversion{ident: found[attrIdent].state == isSet}
	kind := lineEnds(found[attrText])
	if kind == linesUnspecified {
		kind = lineEnds(found[attrCRLF])
	}
	if kind != linesBinary {
		c.crlf = found[attrEOL].text == "crlf"
		c.auto = kind == linesAuto
	}
	switch encoding := found[attrEncoding]; encoding.state {
	case isSet, isUnset:
		return Conversion{}, errNoEncoding
	case isText:
		if !isUTF8(encoding.text) {
			c.encoding = encoding.text
		}
	}
	c.streamed = c.encoding == "" && (kind != linesAuto || found[attrEOL].text == "lf")
	return c, nil
}

type lines uint8

const (
	linesUnspecified lines = iota
	linesText
	linesAuto
	linesBinary
)

func lineEnds(v value) lines {
	switch {
	case v.state == isSet, v.state == isText && v.text == "input":
		return linesText
	case v.state == isUnset:
		return linesBinary
	case v.state == isText && v.text == "auto":
		return linesAuto
	}
	return linesUnspecified
}

func (c Conversion) IsNone() bool { return !c.crlf && !c.ident && c.encoding == "" }

// Apply converts the blob id. The result may share memory with content. With an [ErrEncoding], it has all other
// conversions.
func (c Conversion) Apply(content []byte, id string) ([]byte, error) {
	switch {
	case c.ident && c.streamed:
		content = expandIdent(content, id)
	case c.ident:
		content = expandIdentWhole(content, id)
	}
	if c.crlf && (!c.auto || isPlainText(content)) {
		content = toCRLF(content)
	}
	if c.encoding == "" || len(content) == 0 {
		return content, nil
	}
	encoded, err := encode(content, c.encoding)
	if err != nil {
		return content, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return encoded, nil
}

func toCRLF(content []byte) []byte {
	out := make([]byte, 0, len(content)+bytes.Count(content, []byte("\n")))
	for i, c := range content {
		if c == '\n' && (i == 0 || content[i-1] != '\r') {
			out = append(out, '\r')
		}
		out = append(out, c)
	}
	return out
}

// isPlainText reports whether text=auto lets git change line ends: no CR, and not binary.
func isPlainText(content []byte) bool {
	if bytes.IndexByte(content, '\r') >= 0 || bytes.IndexByte(content, 0) >= 0 {
		return false
	}
	const endOfFile = 0x1a // of DOS; ignored at the end
	printable, others := 0, 0
	for i, c := range content {
		switch {
		case c == '\n', c == endOfFile && i == len(content)-1:
		case c == 0x7f, c < ' ' && !strings.ContainsRune("\b\t\f\x1b", rune(c)):
			others++
		default:
			printable++
		}
	}
	return printable>>7 >= others
}
