package lockfile

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

type span struct{ start, end int }

// labeledSpan is the span of a block with its first label, or "".
type labeledSpan struct {
	label string
	span
}

func spanOf(b *hclsyntax.Block) span { return span{b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte} }

func spanIn(r hcl.Range) span { return span{r.Start.Byte, r.End.Byte} }

func (f *File) at(s span) string { return string(f.src[s.start:s.end]) }

// lineStart returns the start of the offset's line if only blanks precede it there, or else the offset.
func lineStart(src []byte, offset int) int {
	start := bytes.LastIndexByte(src[:offset], '\n') + 1
	if start == 0 && bytes.HasPrefix(src, byteOrderMark) {
		start = min(len(byteOrderMark), offset)
	}
	if len(bytes.Trim(src[start:offset], " \t")) > 0 {
		return offset
	}
	return start
}

// leadStart is lineStart, moved up over the comment lines directly above. It stops at a line that ends a /*
// comment */, as the lines above may be part of it.
func leadStart(src []byte, offset int) int {
	start := lineStart(src, offset)
	for start > 0 && src[start-1] == '\n' {
		above := bytes.LastIndexByte(src[:start-1], '\n') + 1
		if above == 0 && bytes.HasPrefix(src, byteOrderMark) {
			above = len(byteOrderMark)
		}
		line := bytes.TrimLeft(src[above:start], " \t")
		isComment := bytes.HasPrefix(line, []byte("#")) || bytes.HasPrefix(line, []byte("//"))
		if !isComment || bytes.Contains(line, []byte("*/")) {
			break
		}
		start = above
	}
	return start
}

// lineEnd returns the offset after the line if only blanks and a line comment follow, or else the offset.
func lineEnd(src []byte, offset int) int {
	rest := src[offset:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i+1]
	}
	blank := bytes.TrimLeft(rest, " \t\r\n")
	if len(blank) > 0 && blank[0] != '#' && !bytes.HasPrefix(blank, []byte("//")) {
		return offset
	}
	return offset + len(rest)
}

// cut returns the span to remove with a block: its lines and the blank line after it.
func cut(src []byte, b span) span {
	start, end := lineStart(src, b.start), b.end
	line := src[b.end:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	if len(bytes.TrimSpace(line)) > 0 {
		return span{start, end} // keep a comment
	}
	end += len(line)
	return span{start, end + blankLine(src[end:])}
}

func blankLine(text []byte) int {
	i := bytes.IndexByte(text, '\n')
	if i < 0 || len(bytes.TrimSpace(text[:i])) > 0 {
		return 0
	}
	return i + 1
}

// withinGap returns an offset in a gap of two or more blank lines, which a block leaves when it is cut out.
// At the start or end of such a gap it moves one line further inside, where a new block is already
// separated from its neighbors.
func withinGap(src []byte, at int) int {
	if n := blankLine(src[at:]); n > 0 && blankLine(src[at+n:]) > 0 {
		return at + n
	}
	last := lastLine(src[:at])
	if blankLine(src[last:at]) > 0 && blankLine(src[lastLine(src[:last]):last]) > 0 {
		return last
	}
	return at
}

func lastLine(text []byte) int {
	return bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
}

// newline returns the line end of the first line, which all written lines get.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// withNewline returns a text with one kind of line end.
func withNewline(text, newline string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if newline == "\n" {
		return text
	}
	return strings.ReplaceAll(text, "\n", newline)
}

func startsWithComment(src []byte) bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(src, byteOrderMark))
	return len(text) == 0 || text[0] == '#' || text[0] == '/'
}

// hasComment reports whether a provider block without errors, which has no templates, has a comment.
func hasComment(block string) bool {
	inString, escaped := false, false
	for _, c := range block {
		switch {
		case escaped:
			escaped = false
		case c == '"':
			inString = !inString
		case inString:
			escaped = c == '\\'
		case c == '#' || c == '/':
			return true
		}
	}
	return false
}
