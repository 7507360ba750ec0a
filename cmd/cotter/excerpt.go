package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/sanitize"
)

const (
	maxSource  = 1 << 20 // bytes of a file that is read for an excerpt
	maxExcerpt = 160     // bytes of a line that is shown
)

// quotable are the suffixes of files whose lines may be shown, without those with values or tokens.
var quotable = []string{".tf", ".tofu", ".hcl", ".tf.json", ".tofu.json"}

// lockLine matches the lines of a lock that may be shown: the first of a block, and the markers of a merge
// conflict. Others may be secrets, if the file is not really a lock.
var lockLine = lazyRegexp(`^(<{7}|={7}|>{7}|(module|provider) "[^"]*" \{$)`)

// isLockName returns true for any .hcl file except cotter.hcl.
func isLockName(name string) bool {
	return strings.HasSuffix(name, ".hcl") && filepath.Base(name) != "cotter.hcl"
}

// sourceExcerpt returns the line of a file that a message is about, with its number and a line of carets
// below it, or nil. dir is the project's directory.
func sourceExcerpt(dir string, at hcl.Range) []string {
	line, start, end := sourceLine(dir, at)
	if strings.TrimSpace(line) == "" || len(line) > maxExcerpt || isLockName(at.Filename) && !lockLine().MatchString(line) {
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

// sourceLine returns the line at which a range starts, and the bytes of the line that the range covers; 0, 0
// if it does not fit the file.
func sourceLine(dir string, at hcl.Range) (line string, start, end int) {
	if at.Start.Line < 1 || !slices.ContainsFunc(quotable, func(suffix string) bool { return strings.HasSuffix(at.Filename, suffix) }) {
		return "", 0, 0
	}
	name := at.Filename
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, filepath.FromSlash(name))
	}
	if strings.Contains(filepath.ToSlash(name), ".terraform/modules/") {
		return "", 0, 0 // the error may be about another version of the file, which is not installed yet
	}
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxSource {
		return "", 0, 0
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", 0, 0
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if at.Start.Line > len(lines) {
		return "", 0, 0
	}
	before := 0
	for _, l := range lines[:at.Start.Line-1] {
		before += len(l)
	}
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
