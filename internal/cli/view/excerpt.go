package view

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/internal/configuration/repofiles"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

const (
	maxSource  = 1 << 20 // bytes of a file that is read for an excerpt
	maxLine    = 4 << 10 // bytes of a line of which an excerpt is shown
	MaxExcerpt = 160     // columns of an excerpt that is not for a terminal
)

// lockLine matches the lines of a lock that may be shown: the first of a block, and the markers of a merge
// conflict. Others may be secrets, if the file is not really a lock.
var lockLine = lazyregexp.New(`^(<{7}|={7}|>{7}|(module|provider) "[^"]*" \{$)`)

// IsLockName returns true for any .hcl file except cotter.hcl.
func IsLockName(name string) bool {
	return strings.HasSuffix(name, ".hcl") && filepath.Base(name) != "cotter.hcl"
}

// Excerpt returns the line of a file that a message is about, with its number and a line of carets
// below it, or nil. They are cut to a number of columns. dir is the project's directory. A file of a package has
// none: the error may be about another version of it, which is not installed yet.
func Excerpt(dir string, at hcl.Range, columns int) []string {
	if strings.Contains(at.Filename, ".terraform/modules/") {
		return nil
	}
	text, path := ReadQuotable(dir, at.Filename)
	line, start, end := SourceLine(text, at)
	isLock := IsLockName(at.Filename) || IsLockName(path)
	if strings.TrimSpace(line) == "" || len(line) > maxLine || isLock && !lockLine().MatchString(line) {
		return nil
	}
	number := fmt.Sprint(at.Start.Line)
	margin := strings.Repeat(" ", len(number)) + " |"
	shown := addrs.RedactText(line)
	width := columns - len(margin) - 1
	if shown != line || start >= end { // the columns differ, or are not known
		return []string{number + " | " + cutEnd(escapeTabs(shown), width)}
	}
	before, marked, after := escapeTabs(line[:start]), escapeTabs(line[start:end]), escapeTabs(line[end:])
	room := width - ColumnsOf(marked) - min(ColumnsOf(after), len(ellipsis))
	if room < len(ellipsis) { // the words do not fit either
		room = width / 3
	}
	before = elide(before, 0, ellipsis, room-len(ellipsis))
	cut := cutEnd(before+marked+after, width)
	carets := min(ColumnsOf(marked), ColumnsOf(cut)-ColumnsOf(before))
	return []string{number + " | " + cut, margin + " " + strings.Repeat(" ", ColumnsOf(before)) + strings.Repeat("^", max(carets, 1))}
}

const ellipsis = "..."

func cutEnd(text string, width int) string { return elide(text, width-len(ellipsis), ellipsis, 0) }

// escapeTabs replaces tabs by spaces, so that columns can be counted.
func escapeTabs(text string) string {
	return sanitize.Escape(strings.ReplaceAll(text, "\t", "    "))
}

// SourceLine returns the line of a text at which a range starts, and the bytes of the line that the range
// covers; 0, 0 if it does not fit the text.
func SourceLine(text []byte, at hcl.Range) (line string, start, end int) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	if at.Start.Line < 1 || at.Start.Line > len(lines) {
		return "", 0, 0
	}
	before := len(bytes.Join(lines[:at.Start.Line-1], nil))
	line = strings.TrimRight(string(lines[at.Start.Line-1]), "\r\n")
	start, end = at.Start.Byte-before, at.End.Byte-before
	if at.End.Line > at.Start.Line || end > len(line) {
		end = len(line)
	}
	if !utf8.ValidString(line) || start < 0 || start > end || !utf8.RuneStart(append([]byte(line), ' ')[start]) {
		return line, 0, 0
	}
	return line, start, end
}

// ReadQuotable returns the text of a file, and its path without links, or nothing if its lines may not be
// shown.
func ReadQuotable(dir, name string) (text []byte, path string) {
	own, err := repofiles.Find(dir, cliconfig.OSEnvironment().Home)
	if err != nil {
		return nil, ""
	}
	f, err := own.OpenQuotable(name)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxSource+1))
	if err != nil || len(text) > maxSource {
		return nil, ""
	}
	return text, f.Name()
}
