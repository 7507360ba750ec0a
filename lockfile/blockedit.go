package lockfile

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// blockEdit changes values in the source of one block. Every other byte stays: the layout, comments, unknown
// attributes and nested blocks.
type blockEdit struct {
	src     []byte
	newline string // of the file
	body    *hclsyntax.Body
	end     int // the offset of the closing brace
	edits   []edit
}

// editBlock returns the source of a block with other content. src is the block alone, which was parsed before.
func editBlock(src []byte, newline string, old, updated content) string {
	b := parseBlock(src)
	e := &blockEdit{src: src, newline: newline, body: b.Body, end: b.CloseBraceRange.Start.Byte}
	e.set(old, updated)
	// What is inserted comes before what is replaced or removed at the same offset.
	slices.SortStableFunc(e.edits, func(a, b edit) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	return string(splice(src, e.edits))
}

// parseBlock parses the source of a block that was parsed before, so there are no errors.
func parseBlock(src []byte) *hclsyntax.Block {
	file, _ := hcldepth.ParseConfig(context.Background(), src, "", hcl.InitialPos)
	return file.Body.(*hclsyntax.Body).Blocks[0]
}

// set edits the block. Adding and removing follow the layout; what is neither keeps its place.
func (e *blockEdit) set(old, updated content) {
	var added content
	var removed []span
	var last *span // the item before, if it stays
	for i, now := range updated {
		at, isWritten := e.find(now.name)
		switch {
		case isWritten && !now.isSet() && old[i].isSet():
			removed = append(removed, at)
		case !isWritten && now.isSet():
			added = append(added, now)
		case isWritten:
			if !now.equals(old[i]) {
				e.change(old[i], now)
			}
			if len(added) > 0 {
				e.insert(added, last, &at, now.joined, false)
			}
			added, last = nil, &at
		}
	}
	if len(added) > 0 {
		e.insert(added, last, nil, false, e.isLast(last, removed))
	}
	e.remove(removed)
}

// find returns the span of an attribute or a nested block.
func (e *blockEdit) find(name string) (at span, ok bool) {
	if attribute, ok := e.body.Attributes[name]; ok {
		return span{attribute.SrcRange.Start.Byte, attribute.SrcRange.End.Byte}, true
	}
	if b := e.nested(name); b != nil {
		return spanOf(b), true
	}
	return span{}, false
}

func (e *blockEdit) nested(name string) *hclsyntax.Block {
	i := slices.IndexFunc(e.body.Blocks, func(b *hclsyntax.Block) bool { return b.Type == name })
	if i < 0 {
		return nil
	}
	return e.body.Blocks[i]
}

// change edits an item that the block has before and after.
func (e *blockEdit) change(old, now item) {
	if now.block != nil {
		b := e.nested(now.name)
		inside := &blockEdit{src: e.src, newline: e.newline, body: b.Body, end: b.CloseBraceRange.Start.Byte}
		inside.set(old.block, now.block)
		e.edits = append(e.edits, inside.edits...)
		return
	}
	value := e.body.Attributes[now.name].Expr
	if now.hashes != nil {
		(&listEdit{e, value.(*hclsyntax.TupleConsExpr)}).set(now.hashes)
		return
	}
	e.replace(spanIn(value.Range()), quote(now.text))
}

func (e *blockEdit) replace(at span, text string) {
	e.edits = append(e.edits, edit{span: at, text: withNewline(text, e.newline)})
}

// isLast reports whether nothing follows an item that stays.
func (e *blockEdit) isLast(item *span, removed []span) bool {
	at := min(lineEnd(e.src, item.end), e.end)
	for _, r := range slices.SortedFunc(slices.Values(removed), func(a, b span) int { return a.start - b.start }) {
		if r.start >= at {
			if len(bytes.TrimSpace(e.src[at:r.start])) > 0 {
				return false
			}
			at = r.end
		}
	}
	return len(bytes.TrimSpace(e.src[at:e.end])) == 0
}

// insert adds items between two others, of which one may be nil. isLast says that nothing follows.
func (e *blockEdit) insert(items content, last, next *span, nextIsJoined, isLast bool) {
	text := items.lines(e.indent(cmp.Or(last, next).start))
	if last == nil {
		at := leadStart(e.src, next.start)
		e.replace(span{at, at}, text)
		return
	}
	at := min(lineEnd(e.src, last.end), e.end)
	if !nextIsJoined && !isLast && blankLine(e.src[at:]) == 0 {
		text += "\n"
	}
	if !items[0].joined {
		text = "\n" + text
	}
	if e.src[at-1] != '\n' { // a comment of several lines begins behind the item
		text = "\n" + strings.TrimSuffix(text, "\n")
	}
	e.replace(span{at, at}, text)
}

// indent returns the blanks in front of an offset, if nothing else precedes it in its line.
func (e *blockEdit) indent(at int) string {
	if start := lineStart(e.src, at); start < at {
		return string(e.src[start:at])
	}
	return "  "
}

// remove cuts whole items, with the blank line after each, or before those at the end of the block. Comments
// stay.
func (e *blockEdit) remove(items []span) {
	slices.SortFunc(items, func(a, b span) int { return b.start - a.start })
	end := e.end
	for _, at := range items {
		at = cut(e.src, at)
		at.end = min(at.end, end)
		if len(bytes.TrimSpace(e.src[at.end:end])) == 0 {
			if last := lastLine(e.src[:at.start]); blankLine(e.src[last:at.start]) > 0 {
				at.start = last
			}
			end = at.start
		}
		e.edits = append(e.edits, edit{span: at})
	}
}

// unknownContent returns the source of the attributes and nested blocks that are no items of a content, sorted.
func unknownContent(src []byte, known content) []string {
	body := parseBlock(src).Body
	isKnown := func(name string) bool { return slices.ContainsFunc(known, func(i item) bool { return i.name == name }) }
	var unknown []string
	for name, attribute := range body.Attributes {
		if !isKnown(name) {
			unknown = append(unknown, string(attribute.SrcRange.SliceBytes(src)))
		}
	}
	for _, b := range body.Blocks {
		if at := spanOf(b); !isKnown(b.Type) {
			unknown = append(unknown, string(src[at.start:at.end]))
		}
	}
	slices.Sort(unknown)
	return unknown
}
