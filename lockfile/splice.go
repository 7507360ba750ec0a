package lockfile

import (
	"bytes"
	"cmp"
	"slices"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// edit replaces a span of the source. If separate is set, the text is a block, and is
// written with a blank line before and after it.
type edit struct {
	span
	text     string
	separate bool
}

// Bytes returns the content of the file with the current modules and providers. Without
// changes, it is the content that was read.
func (f *File) Bytes() []byte {
	edits := f.edits()
	if len(edits) == 0 {
		return bytes.Clone(f.src)
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(f.src, byteOrderMark))) == 0 {
		header := edit{span: span{len(f.src), len(f.src)}, text: f.header(), separate: true}
		edits = append([]edit{header}, edits...)
	}
	return splice(f.src, edits)
}

// dirty reports whether the modules differ from those in the source.
func (f *File) dirty() bool {
	if len(f.blocks) > len(f.entries) {
		return true
	}
	for _, e := range f.entries {
		if e.changed() {
			return true
		}
	}
	return false
}

// edits returns the changes to the source, sorted by their starts.
func (f *File) edits() []edit {
	var edits []edit
	switch {
	case !f.dirty():
	case f.inPlace():
		edits = f.editsInPlace()
	default:
		edits = f.editsMoved()
	}
	if f.newHeader != "" {
		header := edit{span: span{0, len(commentAtStart(f.src))}, text: f.newHeader}
		edits = append([]edit{header}, edits...)
	}
	// A module comes before a provider at the same offset.
	edits = append(edits, f.providerEdits()...)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.start, b.start) })
	return edits
}

// inPlace reports whether the module blocks are already in order.
func (f *File) inPlace() bool {
	for i, b := range f.blocks {
		if i > 0 && f.blocks[i-1].module.Key > b.module.Key || len(f.providerLabels) > 0 && b.start > f.firstProvider {
			return false
		}
	}
	return true
}

// writable reports whether the addresses have no credentials; see [File.Check].
func (e *entry) writable() bool {
	return !holdsCredential(e.module.Source) && !holdsCredential(e.module.Package)
}

// editsInPlace changes the blocks in place, and inserts each new block after the block that
// sorts before it.
func (f *File) editsInPlace() []edit {
	var edits []edit
	for _, b := range f.blocks {
		if _, kept := f.entries[b.module.Key]; !kept {
			edits = append(edits, edit{span: f.cut(b.span)})
		}
	}
	before := 0 // blocks that sort before the entry
	for _, e := range f.sorted() {
		for before < len(f.blocks) && f.blocks[before].module.Key < e.module.Key {
			before++
		}
		switch {
		case !e.changed() || !e.writable():
		case e.block != nil:
			edits = append(edits, edit{span: e.block.span, text: e.render()})
		default:
			at := f.insertionPoint(before)
			edits = append(edits, edit{span: span{at, at}, text: e.render(), separate: true})
		}
	}
	return edits
}

// insertionPoint returns the offset for a block that sorts after the first n blocks.
func (f *File) insertionPoint(n int) int {
	switch {
	case n > 0:
		return withinGap(f.src, lineEnd(f.src, f.blocks[n-1].end))
	case len(f.blocks) > 0:
		return withinGap(f.src, leadStart(f.src, f.blocks[0].start))
	case len(f.providerLabels) > 0:
		return withinGap(f.src, leadStart(f.src, f.firstProvider))
	}
	return len(f.src)
}

// withinGap returns an offset in a gap of two or more blank lines, which a block leaves
// when it is cut out. If at is at the start or at the end of such a gap, the result is one
// line further inside, where a new block is already separated from its neighbors. Otherwise
// it is at.
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

// lastLine returns the start of the last line of a text that ends with a newline.
func lastLine(text []byte) int {
	return bytes.LastIndexByte(bytes.TrimSuffix(text, []byte("\n")), '\n') + 1
}

// editsMoved moves all module blocks in front of the first provider block or, without
// providers, to the position of the first module block.
func (f *File) editsMoved() []edit {
	var edits []edit
	for _, b := range f.blocks {
		edits = append(edits, edit{span: f.cut(b.span)})
	}
	at := edits[0].start
	if len(f.providerLabels) > 0 {
		at = withinGap(f.src, leadStart(f.src, f.firstProvider))
	}
	for _, e := range f.sorted() {
		text := ""
		switch {
		case e.changed() && e.writable():
			text = e.render()
		case e.block != nil:
			text = string(f.src[e.block.start:e.block.end])
		default:
			continue
		}
		edits = append(edits, edit{span: span{at, at}, text: text, separate: true})
	}
	return edits
}

// cut returns the span to remove with a block: its lines and the blank line after it.
func (f *File) cut(b span) span {
	start, end := lineStart(f.src, b.start), b.end
	line := f.src[b.end:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i+1]
	}
	if len(bytes.TrimSpace(line)) > 0 {
		return span{start, end} // keep a comment
	}
	end += len(line)
	return span{start, end + blankLine(f.src[end:])}
}

// blankLine returns the length of the blank line at the start of text, or 0.
func blankLine(text []byte) int {
	i := bytes.IndexByte(text, '\n')
	if i < 0 || len(bytes.TrimSpace(text[:i])) > 0 {
		return 0
	}
	return i + 1
}

// splice applies edits, which are sorted by their starts.
func splice(src []byte, edits []edit) []byte {
	out := writer{}
	pos := 0
	for _, e := range edits {
		out.foreign(src[pos:max(pos, e.start)])
		pos = max(pos, e.end)
		if e.separate {
			out.block(e.text)
		} else {
			out.foreign([]byte(e.text))
		}
		// A cut removes the blank line after the block. At the end of the file
		// it removes the one before it instead.
		if e.text == "" && pos == len(src) {
			out.trimBlank()
		}
	}
	out.foreign(src[pos:])
	return out.Bytes()
}
