package main

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/cotterpin/cotter/internal/sanitize"
)

// table has rows that are printed on several lines if a terminal is too narrow, so that no word is broken.
type table struct {
	head  []string
	title int // the number of columns that begin a row on a narrow terminal
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = sanitize.Escape(cell)
	}
	t.rows = append(t.rows, cells)
}

func (t *table) print(o *output) {
	const gap = "  "
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], columnsOf(cell))
		}
	}
	total := len(gap) * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	if o.columns > 0 && total > o.columns {
		t.printNarrow(o)
		return
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-columnsOf(cell)) + gap)
			}
		}
		o.printf("%s\n", line.String())
	}
}

// printNarrow prints each row as its title, and an indented line for the other cells, of which the last is the
// place.
func (t *table) printNarrow(o *output) {
	for _, row := range t.rows {
		var title, others []string
		for i, cell := range row[:len(row)-1] {
			switch {
			case cell == "-":
			case i < t.title:
				title = append(title, cell)
			default:
				others = append(others, strings.ToLower(t.head[i])+" "+cell)
			}
		}
		o.printf("%s\n", lines(folded(strings.Join(title, "  "), o.columns, "    ")))
		text := strings.Join(others, ", ")
		if place := row[len(row)-1]; place != "-" {
			text += " (" + place + ")"
		}
		o.printf("    %s\n", lines(folded(text, o.columns-4, "    ")))
	}
}

// terminalWidth returns columns, or 0 if w is not a terminal.
func terminalWidth(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// foldedLines indents the parts of a folded line by two more blanks.
func foldedLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		all[i] = folded(line, width, strings.Repeat(" ", indent+2))
	}
	return strings.Join(all, "\n")
}

// folded breaks a line between words so that no part is longer than width, if possible. All parts but the
// first begin with indent. A command in backquotes is not broken, so that it can be copied. Width 0 is no limit.
func folded(text string, width int, indent string) string {
	if width <= 0 || columnsOf(text) <= width {
		return text
	}
	var b strings.Builder
	column := 0
	for i, word := range wordsOf(text) {
		if n := columnsOf(strings.TrimRight(word, " ")); i > 0 && column+n > width && column > len(indent) {
			kept := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(kept + "\n" + indent)
			column = len(indent)
		}
		b.WriteString(word)
		column += columnsOf(word)
	}
	return strings.TrimRight(b.String(), " ")
}

// wordsOf splits a text after its blanks, except for those between backquotes.
func wordsOf(text string) []string {
	var words []string
	quoted := false
	for _, word := range strings.SplitAfter(text, " ") {
		if quoted {
			words[len(words)-1] += word
		} else {
			words = append(words, word)
		}
		quoted = quoted != (strings.Count(word, "`")%2 == 1)
	}
	return words
}
