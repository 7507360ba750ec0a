package lockfile

import "bytes"

// writer assembles a file, and puts blank lines around new blocks.
type writer struct {
	bytes.Buffer
	afterBlock bool // the last write was a new block
}

// foreign writes bytes unchanged.
func (w *writer) foreign(text []byte) {
	if len(text) == 0 {
		return
	}
	if w.afterBlock && blankLine(text) == 0 {
		w.WriteByte('\n')
	}
	w.afterBlock = false
	w.Write(text)
}

// block writes a new block, with a blank line before it.
func (w *writer) block(text string) {
	if !w.isEmpty() && !bytes.HasSuffix(w.Bytes(), []byte("\n")) {
		w.WriteByte('\n')
	}
	if !w.isEmpty() && !w.endsBlank() {
		w.WriteByte('\n')
	}
	w.WriteString(text)
	if !bytes.HasSuffix(w.Bytes(), []byte("\n")) {
		w.WriteByte('\n')
	}
	w.afterBlock = true
}

func (w *writer) isEmpty() bool {
	return len(bytes.TrimPrefix(w.Bytes(), byteOrderMark)) == 0
}

// endsBlank reports whether the last line is blank.
func (w *writer) endsBlank() bool {
	text := bytes.TrimPrefix(w.Bytes(), byteOrderMark)
	if !bytes.HasSuffix(text, []byte("\n")) {
		return false
	}
	last := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
	return len(bytes.TrimSpace(text[last:])) == 0
}

// trimBlank removes the last line if it is blank.
func (w *writer) trimBlank() {
	if w.endsBlank() {
		before := bytes.TrimRight(bytes.TrimSuffix(w.Bytes(), []byte("\n")), " \t\r")
		w.Truncate(len(before))
	}
}
