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
// tables occurs in an output, and each error in an output says what to do, or is in one of the tables. Errors of wrong
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
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, text := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(text[1]), `\.\.\.`, `.*`)
			messages = append(messages, &message{text: text[1], pattern: regexp.MustCompile(`^(.*: )?` + pattern)})
		}
	}
	for line, advised := range goldenMessages(t) {
		known := advised
		text := strings.TrimPrefix(strings.TrimPrefix(line, "Error: "), "Warning: ")
		for _, m := range messages {
			if m.pattern.MatchString(text) {
				m.found, known = true, true
			}
		}
		if !known && strings.HasPrefix(line, "Error: ") {
			t.Errorf("nothing says what to do about %q: its output has no remedy, and docs/errors.md no row", line)
		}
	}
	for _, m := range messages {
		if !m.found {
			t.Errorf("no golden output has the message %q of docs/errors.md", m.text)
		}
	}
}

// remedyLine is a line that is neither a message nor an excerpt or a list below one.
var remedyLine = regexp.MustCompile("(?m)^! [A-Z][^:`]* .*[.?]$")

// goldenMessages returns the output lines of the golden commands, except for commands that
// exit with the status of a wrong command line, and the errors of network faults; and whether all outputs with a line
// say what to do.
func goldenMessages(t *testing.T) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	add := func(line string, advised bool) {
		before, ok := lines[line]
		lines[line] = advised && (before || !ok)
	}
	names, err := filepath.Glob(goldenDir + "/*.txtar")
	testenv.Must(t, err)
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
				advised := remedyLine.MatchString(command)
				for _, line := range strings.Split(command, "\n") {
					add(strings.TrimPrefix(strings.TrimPrefix(line, "! "), "- "), advised)
				}
			}
		}
	}
	faults, err := txtar.ParseFile(messagesFile)
	testenv.Must(t, err)
	for _, cell := range faults.Files {
		cause, remedy, _ := strings.Cut(string(cell.Data), "\n")
		add("Error: module m: "+cause, remedy != "")
	}
	return lines
}
