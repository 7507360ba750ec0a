// Package view prints for people: words and numbers, tables, excerpts of files, and lines that change while a run goes on.
// It takes values, and knows neither commands nor errors. Names and texts of other people are escaped here.
package view

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// TerminalWidth returns columns, or 0 if w is not a terminal.
func TerminalWidth(w io.Writer) int {
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

// ColumnsOf counts terminal columns. Characters of wide scripts take two.
func ColumnsOf(text string) int {
	const firstWide, firstSymbol, lastSymbol = 0x1100, 0x2000, 0x2e7f
	n := 0
	for _, r := range text {
		n++
		if r >= firstWide && (r < firstSymbol || r > lastSymbol) {
			n++
		}
	}
	return n
}

// shorten cuts a text to width columns. It keeps more of the end, because the end of an address says more.
func shorten(text string, width int) string {
	head := max(width-1, 0) / 3
	return elide(text, head, "…", width-1-head)
}

// elide puts mark between the first head and the last tail columns of a text that has more columns than these and mark.
func elide(text string, head int, mark string, tail int) string {
	if ColumnsOf(text) <= head+ColumnsOf(mark)+tail {
		return text
	}
	first, last := text, text
	for first != "" && ColumnsOf(first) > head {
		_, n := utf8.DecodeLastRuneInString(first)
		first = first[:len(first)-n]
	}
	for last != "" && ColumnsOf(last) > tail {
		_, n := utf8.DecodeRuneInString(last)
		last = last[n:]
	}
	return first + mark + last
}

// FoldedLines indents the parts of a folded line by two more blanks.
func FoldedLines(text string, width int) string {
	if width <= 0 {
		return text
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		all[i] = Folded(line, width, strings.Repeat(" ", indent+2))
	}
	return strings.Join(all, "\n")
}

// Folded breaks a line between words so that no part is longer than width, if possible. All parts but the
// first begin with indent. A command in backquotes is not broken, so that it can be copied. Width 0 is no limit.
func Folded(text string, width int, indent string) string {
	if width <= 0 || ColumnsOf(text) <= width {
		return text
	}
	var b strings.Builder
	column := 0
	for i, word := range wordsOf(text) {
		if n := ColumnsOf(strings.TrimRight(word, " ")); i > 0 && column+n > width && column > len(indent) {
			kept := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(kept + "\n" + indent)
			column = len(indent)
		}
		b.WriteString(word)
		column += ColumnsOf(word)
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
