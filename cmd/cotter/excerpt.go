package main

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
	"github.com/cotterpin/cotter/internal/repofiles"
	"github.com/cotterpin/cotter/internal/sanitize"
)

const (
	maxSource  = 1 << 20 // bytes of a file that is read for an excerpt
	maxExcerpt = 160     // bytes of a line that is shown
)

// lockLine matches the lines of a lock that may be shown: the first of a block, and the markers of a merge
// conflict. Others may be secrets, if the file is not really a lock.
var lockLine = lazyRegexp(`^(<{7}|={7}|>{7}|(module|provider) "[^"]*" \{$)`)

// isLockName returns true for any .hcl file except cotter.hcl.
func isLockName(name string) bool {
	return strings.HasSuffix(name, ".hcl") && filepath.Base(name) != "cotter.hcl"
}

// sourceExcerpt returns the line of a file that a message is about, with its number and a line of carets
// below it, or nil. dir is the project's directory. A file of a package has none: the error may be about
// another version of it, which is not installed yet.
func sourceExcerpt(dir string, at hcl.Range) []string {
	if strings.Contains(at.Filename, ".terraform/modules/") {
		return nil
	}
	text, path := readQuotable(dir, at.Filename)
	line, start, end := sourceLine(text, at)
	isLock := isLockName(at.Filename) || isLockName(path)
	if strings.TrimSpace(line) == "" || len(line) > maxExcerpt || isLock && !lockLine().MatchString(line) {
		return nil
	}
	number := fmt.Sprint(at.Start.Line)
	margin := strings.Repeat(" ", len(number)) + " |"
	shown := addrs.RedactText(line)
	lines := []string{number + " | " + escapeTabs(shown)}
	if shown != line || start >= end { // the columns differ, or are not known
		return lines
	}
	before, marked := escapeTabs(line[:start]), escapeTabs(line[start:end])
	return append(lines, margin+" "+strings.Repeat(" ", columnsOf(before))+strings.Repeat("^", max(columnsOf(marked), 1)))
}

// escapeTabs replaces tabs by spaces, so that columns can be counted.
func escapeTabs(text string) string {
	return sanitize.Escape(strings.ReplaceAll(text, "\t", "    "))
}

// sourceLine returns the line of a text at which a range starts, and the bytes of the line that the range
// covers; 0, 0 if it does not fit the text.
func sourceLine(text []byte, at hcl.Range) (line string, start, end int) {
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

// readQuotable returns the text of a file, and its path without links, or nothing if its lines may not be
// shown.
func readQuotable(dir, name string) (text []byte, path string) {
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
