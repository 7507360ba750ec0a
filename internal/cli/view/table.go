package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// Table has rows that are printed on several lines if a terminal is too narrow, so that no word is broken.
type Table struct {
	Head  []string
	Title int // the number of columns that begin a row on a narrow terminal
	rows  [][]string
}

// Add escapes the cells of a row, one for each column.
func (t *Table) Add(cells ...string) {
	for i, cell := range cells {
		cells[i] = sanitize.Escape(cell)
	}
	t.rows = append(t.rows, cells)
}

// Print prints the table. columns is the width of the terminal, or 0.
func (t *Table) Print(w io.Writer, columns int) {
	const gap = "  "
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], ColumnsOf(cell))
		}
	}
	total := len(gap) * (len(widths) - 1)
	for _, width := range widths {
		total += width
	}
	if columns > 0 && total > columns {
		t.printNarrow(w, columns)
		return
	}
	for _, row := range append([][]string{t.Head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-ColumnsOf(cell)) + gap)
			}
		}
		fmt.Fprintln(w, line.String())
	}
}

// printNarrow prints each row as its title, and an indented line for the other cells, of which the last is the
// place.
func (t *Table) printNarrow(w io.Writer, columns int) {
	for _, row := range t.rows {
		var title, others []string
		for i, cell := range row[:len(row)-1] {
			switch {
			case cell == "-":
			case i < t.Title:
				title = append(title, cell)
			default:
				others = append(others, strings.ToLower(t.Head[i])+" "+cell)
			}
		}
		fmt.Fprintln(w, Folded(strings.Join(title, "  "), columns, "    "))
		text := strings.Join(others, ", ")
		if place := row[len(row)-1]; place != "-" {
			text += " (" + place + ")"
		}
		fmt.Fprintln(w, "    "+Folded(text, columns-4, "    "))
	}
}
