package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/cotterpin/cotter/internal/testenv"
)

// TestErrorsPage compares docs/errors.md with the golden outputs and the table of network faults: each message in its
// tables occurs in an output, and each error in an output is in one of the tables. Errors of wrong
// command lines are exempt.
func TestErrorsPage(t *testing.T) {
	t.Parallel()
	page := readFile(t, "../../docs/errors.md")
	type message struct {
		text    string
		pattern *regexp.Regexp
		found   bool
	}
	var messages []*message
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		pattern := strings.ReplaceAll(regexp.QuoteMeta(row[1]), `\.\.\.`, `.*`)
		messages = append(messages, &message{text: row[1], pattern: regexp.MustCompile(`^(.*: )?` + pattern)})
	}
	for _, line := range goldenMessages(t) {
		known := false
		text := strings.TrimPrefix(strings.TrimPrefix(line, "Error: "), "Warning: ")
		for _, m := range messages {
			if m.pattern.MatchString(text) {
				m.found, known = true, true
			}
		}
		if !known && strings.HasPrefix(line, "Error: ") {
			t.Errorf("docs/errors.md has no row for %q", line)
		}
	}
	for _, m := range messages {
		if !m.found {
			t.Errorf("no golden output has the message %q of docs/errors.md", m.text)
		}
	}
}

// goldenMessages returns the output lines of the golden commands, except for commands that
// exit with the status of a wrong command line, and the errors of network faults.
func goldenMessages(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(goldenDir + "/*.txtar")
	testenv.Must(t, err)
	var lines []string
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		testenv.Must(t, err)
		for _, file := range archive.Files {
			if file.Name != "output" {
				continue
			}
			for _, command := range strings.Split("\n"+string(file.Data), "\n$ ") {
				if strings.Contains(command, "[exit status 2]") {
					continue
				}
				for _, line := range strings.Split(command, "\n") {
					line = strings.TrimPrefix(strings.TrimPrefix(line, "! "), "- ")
					lines = append(lines, line)
				}
			}
		}
	}
	faults, err := txtar.ParseFile(messagesFile)
	testenv.Must(t, err)
	for _, cell := range faults.Files {
		cause, _, _ := strings.Cut(string(cell.Data), "\n")
		lines = append(lines, "Error: module m: "+cause)
	}
	return lines
}
