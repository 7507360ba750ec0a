package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/hashing"
)

// The rules of the output: results go to stdout, errors and warnings to stderr.
// A message says which call, at which file and line, what was tried and what to
// do next. Everything passes through [sanitize.Escape], since names, versions and server
// messages are other people's text, which must neither act on the terminal nor
// pass for a line of ours. With --json, stdout has one JSON value a line and
// nothing else.
type output struct {
	stdout, stderr io.Writer
	env            func(string) string
	json           bool
	color          bool
	// quiet leaves out everything but results that were asked for, and errors; verbose
	// tells everything that happens.
	quiet, verbose bool
	started        time.Time
	// dir is the directory of --chdir, and lockFile that of --lock-file. whenInterrupted is what to say of a run that the
	// user ends, if it may have changed something.
	dir, lockFile, whenInterrupted string
	// bundle says that packages come from a bundle, and that no server is asked for that.
	bundle bool
	// project is the directory of the project that the output is about, if there are
	// several: see inProjects. conclusion is what is said of it in one line.
	project, conclusion string
}

// configure reads the flags that concern the output.
func (o *output) configure(cmd *cli.Invocation) {
	o.json, o.dir, o.lockFile = cmd.Bool("json"), cmd.String("chdir"), cmd.String("lock-file")
	o.bundle = cmd.String("bundle") != ""
	o.quiet, o.verbose = cmd.Bool("quiet") && !o.json, cmd.Bool("verbose") && !o.json
	o.color = !cmd.Bool("no-color") && o.env("NO_COLOR") == "" && o.env("TERM") != "dumb" && isTerminal(o.stderr)
}

func (o *output) printf(format string, args ...any) {
	fmt.Fprint(o.stdout, escapef(format, args...))
}

// notef prints what people want to know who have not asked for silence.
func (o *output) notef(format string, args ...any) {
	if !o.quiet {
		o.printf(format, args...)
	}
}

// elapsed is how long the run has taken.
func (o *output) elapsed() string { return seconds(time.Since(o.started)) }

func (o *output) warnf(format string, args ...any) {
	if o.quiet {
		return
	}
	text := fmt.Sprintf(format, args...)
	if o.project != "" {
		text = o.project + ": " + text
	}
	fmt.Fprint(o.stderr, o.paint(yellow, "Warning:"), " ", indented(text), "\n")
}

// The colours of a terminal, by their SGR parameters.
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

// interactive reports whether a person watches.
func (o *output) interactive() bool {
	return !o.json && o.env("TERM") != "dumb" && !onBuildServer(o.env) && isTerminal(o.stdout)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// fileGroup is the files of one kind of change.
type fileGroup struct {
	label string
	files []string
}

func changedFiles(c hashing.Changes) []fileGroup {
	return []fileGroup{{"changed", c.Changed}, {"vanished", c.Vanished}, {"added", c.Added}}
}
