package lockfile

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// edit replaces a span of the source. A separate text is a block, with a blank line before and after it.
type edit struct {
	span
	text     string
	separate bool
}

// Bytes returns the content with the current entries; without changes, the bytes that were read.
func (f *File) Bytes() []byte {
	f = f.orEmpty()
	edits := f.edits()
	if len(edits) == 0 {
		return bytes.Clone(f.src)
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(f.src, byteOrderMark))) == 0 {
		header := edit{span: span{len(f.src), len(f.src)}, text: withNewline(f.header(), newline(f.src)), separate: true}
		edits = append([]edit{header}, edits...)
	}
	return splice(f.src, edits)
}

// edits returns the changes sorted by start; at one offset the header, then modules, then providers.
func (f *File) edits() []edit {
	edits := f.moveHeader(slices.Concat(f.headerEdits(), f.moduleEdits(), f.providerEdits()))
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return edits
}

// headerEdits adds a header to a file without a comment if its providers are rewritten, as stock tools do.
func (f *File) headerEdits() []edit {
	switch {
	case f.newHeader != "":
		return []edit{{span: span{0, endOfComment(f.src)}, text: withNewline(f.newHeader, newline(f.src))}}
	case f.providers.rewritten && !startsWithComment(f.src):
		start := len(f.src) - len(bytes.TrimPrefix(f.src, byteOrderMark))
		return []edit{{span: span{start, start}, text: withNewline(f.header(), newline(f.src)), separate: true}}
	}
	return nil
}

// misplacedHeader is a stock tool's header behind the end of a block. Dependabot leaves it there, because it puts what
// the tool has written in the place of the provider blocks.
var misplacedHeader = lazyregexp.New(`\n\}(# This file is maintained automatically by "(?:tofu|terraform) init"\.\r?\n# Manual edits may be lost in future updates\.\r?\n)`)

// moveHeader adds to other edits that such a header moves to the start, or is removed if there is a comment.
func (f *File) moveHeader(edits []edit) []edit {
	at := misplacedHeader().FindSubmatchIndex(f.src)
	if at == nil || len(edits) == 0 {
		return edits
	}
	header := span{at[2], at[3]}
	for i := range edits {
		switch e := &edits[i]; {
		case e.start < header.start:
			e.end = min(e.end, header.start)
		case e.start < header.end:
			e.start, e.end = header.end, max(e.end, header.end)
		}
	}
	edits = append(edits, edit{span: header, text: newline(f.src)})
	if startsWithComment(f.src) || f.providers.rewritten {
		return edits // headerEdits has seen to the start
	}
	start := len(f.src) - len(bytes.TrimPrefix(f.src, byteOrderMark))
	return append(edits, edit{span: span{start, start}, text: string(f.src[header.start:header.end]), separate: true})
}

// moduleEdits moves all module blocks in front of the first provider block (or else to the first of them)
// if they are not sorted, or not there.
func (f *File) moduleEdits() []edit {
	if !f.modules.dirty() {
		return nil
	}
	blocks := f.modules.blocks
	if len(f.providerBlocks) == 0 {
		if f.modules.isSorted() {
			return f.modules.editsInPlace(f.src, len(f.src), true)
		}
		return f.modules.editsMoved(f.src, cut(f.src, blocks[0].span).start, false)
	}
	firstProvider := f.providerBlocks[0].start
	at := withinGap(f.src, leadStart(f.src, firstProvider))
	if f.modules.isSorted() && (len(blocks) == 0 || blocks[len(blocks)-1].start < firstProvider) {
		return f.modules.editsInPlace(f.src, at, true)
	}
	return f.modules.editsMoved(f.src, at, false)
}

// providerEdits moves provider blocks, with the comments above them, only if all are rewritten and not
// sorted.
func (f *File) providerEdits() []edit {
	if f.providers.rewritten && !f.providers.isSorted() {
		return f.providers.editsMoved(f.src, -1, true)
	}
	return f.providers.editsInPlace(f.src, len(f.src), false)
}

// editsInPlace changes blocks in place, and inserts each new block after the last one that sorts before it,
// or at empty if there are no blocks; with inGap, within a gap of blank lines (see withinGap).
func (t *table[V]) editsInPlace(src []byte, empty int, inGap bool) []edit {
	var edits []edit
	for _, b := range t.blocks {
		if _, kept := t.entries[b.key]; !kept {
			edits = append(edits, edit{span: cut(src, b.span)})
		}
	}
	rest := slices.SortedFunc(slices.Values(t.blocks), (*block[V]).compare)
	var last *block[V] // the last block in src that sorts before the entry
	for _, e := range t.sorted() {
		for ; len(rest) > 0 && rest[0].key < e.key; rest = rest[1:] {
			if last == nil || rest[0].start > last.start {
				last = rest[0]
			}
		}
		text, isNew := t.newText(src, e)
		switch {
		case !isNew:
			continue
		case e.block != nil:
			edits = append(edits, edit{span: e.block.span, text: text})
			continue
		}
		at := empty
		switch {
		case last != nil:
			at = lineEnd(src, last.end)
		case len(t.blocks) > 0:
			at = leadStart(src, t.blocks[0].start)
		}
		if inGap && len(t.blocks) > 0 {
			at = withinGap(src, at)
		}
		edits = append(edits, edit{span: span{at, at}, text: text, separate: true})
	}
	return edits
}

// editsMoved moves all blocks to an offset, sorted; -1 is that of the first of them. withComments also
// moves the comments above a block, except for one at the start of the file. Those above a removed block
// stay.
func (t *table[V]) editsMoved(src []byte, at int, withComments bool) []edit {
	var edits []edit
	above := map[string]string{}
	for _, b := range t.blocks {
		removed := cut(src, b.span)
		if _, kept := t.entries[b.key]; withComments && kept {
			if start := leadStart(src, b.start); start > 0 {
				removed.start = start
				above[b.key] = string(src[start:b.start])
			}
		}
		edits = append(edits, edit{span: removed})
	}
	if at < 0 {
		at = edits[0].start
	}
	for _, e := range t.sorted() {
		text, isNew := t.newText(src, e)
		switch {
		case isNew:
		case e.block != nil:
			text = string(src[e.block.start:e.block.end])
		default:
			continue
		}
		edits = append(edits, edit{span: span{at, at}, text: above[e.key] + text, separate: true})
	}
	return edits
}

// newText returns the text of a block to write; false if it stays as it is, or must not be added.
func (t *table[V]) newText(src []byte, e *entry[V]) (string, bool) {
	switch {
	case e.changed():
		if !e.value.writable() {
			return "", false
		}
	case !t.rewritten || e.block.value.hasNormalHashes() && hasComment(string(src[e.block.start:e.block.end])):
		return "", false
	}
	if e.text != "" {
		return e.text, true
	}
	if e.block != nil && !t.rewritten {
		old := src[e.block.start:e.block.end]
		if withNewline(string(old), "\n") != render(e.block.value) {
			return editBlock(old, newline(src), e.block.value.content(), e.value.content()), true
		}
	}
	return withNewline(render(e.value), newline(src)), true
}

// splice applies edits, which are sorted by their starts.
func splice(src []byte, edits []edit) []byte {
	out := writer{newline: newline(src)}
	pos := 0
	for _, e := range edits {
		out.foreign(src[pos:max(pos, e.start)])
		pos = max(pos, e.end)
		if e.separate {
			out.block(e.text)
		} else {
			out.foreign([]byte(e.text))
		}
		// A cut removes the blank line after the block, but at the end of the file the one before it.
		if e.text == "" && pos == len(src) {
			out.trimBlank()
		}
	}
	out.foreign(src[pos:])
	return out.Bytes()
}

type writer struct {
	bytes.Buffer
	newline    string
	afterBlock bool // the last write was a new block
}

func (w *writer) foreign(text []byte) {
	if len(text) == 0 {
		return
	}
	if w.afterBlock && blankLine(text) == 0 {
		w.WriteString(w.newline)
	}
	w.afterBlock = false
	w.Write(text)
}

func (w *writer) block(text string) {
	if !w.isEmpty() && !bytes.HasSuffix(w.Bytes(), []byte("\n")) {
		w.WriteString(w.newline)
	}
	if !w.isEmpty() && !w.endsBlank() {
		w.WriteString(w.newline)
	}
	w.WriteString(text)
	if !bytes.HasSuffix(w.Bytes(), []byte("\n")) {
		w.WriteString(w.newline)
	}
	w.afterBlock = true
}

func (w *writer) isEmpty() bool {
	return len(bytes.TrimPrefix(w.Bytes(), byteOrderMark)) == 0
}

func (w *writer) endsBlank() bool {
	text := bytes.TrimPrefix(w.Bytes(), byteOrderMark)
	if !bytes.HasSuffix(text, []byte("\n")) {
		return false
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	return len(bytes.TrimSpace(text[last:])) == 0
}

func (w *writer) trimBlank() {
	if w.endsBlank() {
		before := bytes.TrimRight(bytes.TrimSuffix(w.Bytes(), []byte("\n")), " \t\r")
		w.Truncate(len(before))
	}
}
