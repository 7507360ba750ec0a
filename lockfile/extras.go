package lockfile

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// knownAttributes are the attributes of a module block that render writes.
var knownAttributes = map[string]bool{"version": true, "source": true, "constraints": true, "package": true, "hashes": true}

// span is a range of bytes in the source.
type span struct{ start, end int }

// spanOf returns the span of a block, from its type to its closing brace.
func spanOf(b *hclsyntax.Block) span { return span{b.TypeRange.Start.Byte, b.CloseBraceRange.End.Byte} }

// extras returns the source of a module block's unknown attributes and nested blocks,
// which are preserved when the block is rewritten. Each includes the comments above
// it and at the end of its line.
func (p *parser) extras(b *hclsyntax.Block) []string {
	var spans []span
	for name, attribute := range b.Body.Attributes {
		if !knownAttributes[name] {
			spans = append(spans, span{attribute.SrcRange.Start.Byte, attribute.SrcRange.End.Byte})
		}
	}
	for _, nested := range b.Body.Blocks {
		spans = append(spans, spanOf(nested))
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	extras := make([]string, 0, len(spans))
	for _, s := range spans {
		start := max(leadStart(p.src, s.start), b.OpenBraceRange.End.Byte)
		end := min(lineEnd(p.src, s.end), b.CloseBraceRange.Start.Byte)
		text := strings.TrimRight(string(p.src[start:end]), " \t\r\n")
		if !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "\t") {
			text = "  " + text
		}
		extras = append(extras, text)
	}
	return extras
}

// lineStart returns the start of the offset's line if only blanks precede the
// offset in it, and the offset otherwise.
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

// leadStart returns lineStart, moved up over the comment lines directly above. It
// stops at a line that ends a /* comment */, as the lines above may be part of it.
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

// lineEnd returns the offset after the offset's line if only blanks and a line
// comment follow in it, and the offset otherwise.
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
