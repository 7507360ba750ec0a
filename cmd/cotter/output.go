package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// output prints what a command has to say: results to stdout, errors and warnings to stderr. With --json,
// stdout has one JSON value per line and nothing else.
//
// All arguments pass through [sanitize.Escape]: names, versions and the messages of servers come from other
// people, and must neither act on the terminal nor look like a line of Cotter's.
type output struct {
	advice.Run
	stdout, stderr io.Writer
	json           bool
	color          bool
	quiet          bool // print only errors and the requested results
	verbose        bool // print everything that happens
	started        time.Time
	// whenInterrupted is the message after an interruption. It is set when something may have changed.
	whenInterrupted string
	// columns is the width of stdout's terminal, and errColumns that of stderr's, or 0: then no line is folded.
	columns, errColumns int
	// replaced is the last warning about replaced sources.
	replaced   string
	conclusion string         // the result on one of several projects, in one line: see inProjects
	kept       records.Record // by function result, until end
	relocked   bool           // the run has changed the lock
}

func (o *output) configure(cmd *invocation) {
	o.json, o.Dir = cmd.Bool("json"), cmd.String("chdir")
	o.PlainNames = o.json
	o.Bundle = cmd.String("bundle") != ""
	o.Again = func(command, rest, project string) string { return flagsAgain(cmd, command, rest, project) }
	o.quiet, o.verbose = cmd.Bool("quiet") && !o.json, cmd.Bool("verbose") && !o.json
	o.color = !cmd.Bool("no-color") && o.Env("NO_COLOR") == "" && o.Env("TERM") != "dumb" && view.IsTerminal(o.stderr)
}

func (o *output) printf(format string, args ...any) {
	fmt.Fprint(o.stdout, view.Escapef(format, args...))
}

// notef is printf for what --quiet leaves out.
func (o *output) notef(format string, args ...any) {
	if !o.quiet {
		fmt.Fprint(o.stdout, view.FoldedLines(view.Escapef(format, args...), o.columns))
	}
}

// errLine prints to stderr, folded on a terminal.
func (o *output) errLine(text string) { fmt.Fprintln(o.stderr, view.FoldedLines(text, o.errColumns)) }

func (o *output) errLineOf(color, word, text string) {
	text = view.FoldedLines(word+" "+text, o.errColumns)
	fmt.Fprintln(o.stderr, o.paint(color, word)+strings.TrimPrefix(text, word))
}

func (o *output) elapsed() string { return view.Seconds(time.Since(o.started)) }

// warnf prints a warning, unless --quiet is set.
func (o *output) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	switch {
	case o.json:
		_ = o.writeJSON(records.Warning{Message: text}) // writing the result will return the error
		return
	case o.quiet:
		return
	}
	if o.Project != "" {
		text = o.Project + ": " + text
	}
	o.errLineOf(yellow, "Warning:", view.Indented(text))
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
	return !o.json && o.Env("TERM") != "dumb" && !onBuildServer(o.Env) && view.IsTerminal(o.stdout)
}

// forLog keeps names from being read as commands by the build server that shows the output. Nothing reads
// commands on the terminal of a person.
func forLog(w io.Writer, env func(string) string) io.Writer {
	if view.IsTerminal(w) && !onBuildServer(env) {
		return w
	}
	return &sanitize.Log{To: w}
}

// lostOutput returns why results did not get to the file or the program that should get them. It returns nil for a
// terminal: one that is gone cannot be told.
func lostOutput(stdout io.Writer) error {
	if log, ok := stdout.(*sanitize.Log); ok {
		return log.Err()
	}
	return nil
}

// errOutput does not wrap the cause, whose remedies are about the files of Cotter.
func errOutput(cause error) error {
	if at, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = at.Err
	}
	return errors.New("the output could not be written: " + cause.Error())
}

// unfiltered is the inverse of [forLog], for the output of other programs.
func unfiltered(w io.Writer) io.Writer {
	if log, ok := w.(*sanitize.Log); ok {
		return log.To
	}
	return w
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
