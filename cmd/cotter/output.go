package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/term"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/sanitize"
)

// output prints what a command has to say: results to stdout, errors and warnings to stderr. With --json,
// stdout has one JSON value per line and nothing else.
//
// All arguments pass through [sanitize.Escape]: names, versions and the messages of servers come from other
// people, and must neither act on the terminal nor look like a line of Cotter's.
type output struct {
	stdout, stderr io.Writer
	env            func(string) string
	json           bool
	color          bool
	quiet          bool // print only errors and the requested results
	verbose        bool // print everything that happens
	started        time.Time
	dir            string // the value of --chdir
	// again returns flags of this run for an advised command: see flagsAgain.
	again func(command, rest, project string) string
	// whenInterrupted is the message after an interruption. It is set when something may have changed.
	whenInterrupted string
	bundle          bool // packages come from a bundle and not from servers
	// columns is the width of stdout's terminal, and errColumns that of stderr's, or 0: then no line is folded.
	columns, errColumns int
	// reached is set when a server was reached by its name. nil means not known.
	reached *atomic.Bool
	// replaced is the last warning about replaced sources.
	replaced string
	// project is the directory that the output is about, if there are several, and conclusion the result in
	// one line: see inProjects.
	project, conclusion string
	kept                record // by function result, until end
	relocked            bool   // the run has changed the lock
}

func (o *output) configure(cmd *invocation) {
	o.json, o.dir = cmd.Bool("json"), cmd.String("chdir")
	o.bundle = cmd.String("bundle") != ""
	o.again = func(command, rest, project string) string { return flagsAgain(cmd, command, rest, project) }
	o.quiet, o.verbose = cmd.Bool("quiet") && !o.json, cmd.Bool("verbose") && !o.json
	o.color = !cmd.Bool("no-color") && o.env("NO_COLOR") == "" && o.env("TERM") != "dumb" && isTerminal(o.stderr)
}

func (o *output) printf(format string, args ...any) {
	fmt.Fprint(o.stdout, escapef(format, args...))
}

// notef is printf for what --quiet leaves out.
func (o *output) notef(format string, args ...any) {
	if !o.quiet {
		fmt.Fprint(o.stdout, foldedLines(escapef(format, args...), o.columns))
	}
}

// errLine prints to stderr, folded on a terminal.
func (o *output) errLine(text string) { fmt.Fprintln(o.stderr, foldedLines(text, o.errColumns)) }

func (o *output) errLineOf(color, word, text string) {
	text = foldedLines(word+" "+text, o.errColumns)
	fmt.Fprintln(o.stderr, o.paint(color, word)+strings.TrimPrefix(text, word))
}

func (o *output) elapsed() string { return seconds(time.Since(o.started)) }

// warnf prints a warning, unless --quiet is set.
func (o *output) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case o.json:
		_ = o.writeJSON(warningRecord{Message: text}) // writing the result will return the error
		return
	case o.quiet:
		return
	}
	if o.project != "" {
		text = o.project + ": " + text
	}
	o.errLineOf(yellow, "Warning:", indented(text))
}

// SGR parameters of a terminal.
const (
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (o *output) paint(color, text string) string {
	if !o.color {
		return text
	}
	return "\x1b[1;" + color + "m" + text + "\x1b[0m"
}

// interactive reports whether a person watches stdout.
func (o *output) interactive() bool {
	return !o.json && o.env("TERM") != "dumb" && !onBuildServer(o.env) && isTerminal(o.stdout)
}

// forLog keeps names from being read as commands by the build server that shows the output. Nothing reads
// commands on the terminal of a person.
func forLog(w io.Writer, env func(string) string) io.Writer {
	if isTerminal(w) && !onBuildServer(env) {
		return w
	}
	return &sanitize.Log{To: w}
}

// unfiltered is the inverse of [forLog], for the output of other programs.
func unfiltered(w io.Writer) io.Writer {
	if log, ok := w.(*sanitize.Log); ok {
		return log.To
	}
	return w
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// count returns a number with its noun, such as "3 modules".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// countBoth returns "3 modules and 1 provider", without a number that is 0.
func countBoth(n int, noun string, others int, otherNoun string) string {
	return both(n, count(n, noun), others, count(others, otherNoun))
}

// both joins two texts, without the one of a number that is 0.
func both(n int, text string, others int, other string) string {
	switch {
	case others == 0:
		return text
	case n == 0:
		return other
	}
	return text + " and " + other
}

// groupBy returns lists of the elements with the same key, in the order of their first elements.
func groupBy[T any, K comparable](list []T, keyOf func(T) K) (groups [][]T) {
	index := make(map[K]int)
	for _, one := range list {
		key := keyOf(one)
		i, ok := index[key]
		if !ok {
			i, groups = len(groups), append(groups, nil)
			index[key] = i
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// distinct sorts a list, and leaves out what is in it twice.
func distinct(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// maxAffected limits the modules, providers or projects below a message that they have in common.
const maxAffected = 12

// affected leaves out lines above maxAffected, except for --verbose.
func (o *output) affected(lines []string) []string {
	rest := len(lines) - maxAffected
	if rest <= 1 || o.verbose {
		return lines
	}
	return append(slices.Clone(lines[:maxAffected]), fmt.Sprintf("... and %d more (--verbose lists all)", rest))
}

type fileGroup struct {
	label string
	files []string
}

func changedFiles(c hashing.Changes) []fileGroup {
	return []fileGroup{{"changed", c.Changed}, {"vanished", c.Vanished}, {"added", c.Added}}
}

// indented escapes text, and indents all lines but the first, so that they do not look like messages.
func indented(text string) string {
	return sanitize.EscapeLines(strings.ReplaceAll(text, "\n", "\n  "))
}

// lines is an argument of [escapef] that keeps its line breaks.
type lines string

// escapef is fmt.Sprintf with escaped arguments on one line, except for [lines].
func escapef(format string, args ...any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case lines:
			safe[i] = sanitize.EscapeLines(string(arg))
		case string:
			safe[i] = sanitize.Escape(arg)
		case fmt.Stringer:
			safe[i] = sanitize.Escape(arg.String())
		case error:
			safe[i] = sanitize.Escape(arg.Error())
		default:
			safe[i] = arg
		}
	}
	return fmt.Sprintf(format, safe...)
}

// escapeJSON escapes unprintable characters in the strings of an encoded JSON value, and "##", with which
// commands for build servers begin (see [sanitize.Log]). The value does not change.
func escapeJSON(text string) string {
	var b strings.Builder
	var last rune
	for _, r := range text {
		switch {
		case r == '#' && last == '#':
			b.WriteString(`\u0023`)
		case sanitize.Printable(r), r == '\n':
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		last = r
	}
	return b.String()
}

// size formats a number of bytes in decimal units, such as "1.5 MB".
func size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	value := float64(bytes)
	unit := ""
	for _, unit = range units {
		if value /= 1000; value < 999.5 {
			break
		}
	}
	if value < 9.95 {
		return fmt.Sprintf("%.1f %s", value, unit)
	}
	return fmt.Sprintf("%.0f %s", value, unit)
}
