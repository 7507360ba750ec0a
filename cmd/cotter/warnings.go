package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
)

// warning is an OnEvent for commands that show no progress.
func (o *output) warning(ev installer.Event) {
	w, ok := ev.(event.Warning)
	switch {
	case !ok || w.Kind == event.WarningReplaced && o.replaced == w.Message:
		return // a command may read a project twice
	case w.Kind == event.WarningReplaced:
		o.replaced = w.Message
	}
	o.printWarning("", w)
}

// printWarning is about the project in dir, which is "" if there is only one.
func (o *output) printWarning(dir string, w event.Warning) {
	if o.json {
		_ = o.writeProjectJSON(cmp.Or(dir, o.Project), o.jsonWarning(dir, w)) // writing the result will return the error
		return
	}
	if w.Kind == event.WarningLongHistory && !o.verbose {
		return
	}
	w.Range = o.ShownRange(dir, w.Range)
	text := warningText(w)
	if subject := warningSubject(dir, w); subject != "" {
		text = subject + ": " + text
	}
	o.warnf("%s", strings.Join(append([]string{text}, o.AdviceLines(advice.WarningRemedies(dir, w))...), "\n"))
}

func warningText(w event.Warning) string {
	if w.Range.Filename == "" {
		return w.Message
	}
	place := fmt.Sprintf("%s:%d", w.Range.Filename, w.Range.Start.Line)
	if before, after, ok := strings.Cut(w.Message, " comes from "); ok && w.Kind == event.WarningDialectAssumed {
		return before + " (" + place + ") comes from " + after // the place of an example
	}
	return place + ": " + w.Message
}

func warningSubject(dir string, w event.Warning) string {
	var parts []string
	if dir != "" {
		parts = append(parts, dir)
	}
	if !w.Path.IsRoot() {
		parts = append(parts, "module "+w.Path.String())
	}
	return strings.Join(parts, ": ")
}

// originWarnings collects the warnings that modules of one repository can have in common, and all of several
// projects. They are printed once, at the end of a run.
type originWarnings []originWarning

type originWarning struct {
	dir string // the project, or "" if there is only one
	event.Warning
}

func (c *originWarnings) take(dir string, ev installer.Event) bool {
	w, ok := ev.(event.Warning)
	if ok = ok && (dir != "" || w.Kind == event.WarningMoved || w.Kind == event.WarningUnknownHistory); ok {
		w.Message = advice.WithShortCommits(w.Message)
		*c = append(*c, originWarning{dir, w})
	}
	return ok
}

// print prints a warning that several modules or projects have in common with their names:
//
//	Warning: tag v1.0.0 points to 1ba9f699385c now; the locked f38b40497d8a is used:
//	  module app.dns
//	  module dns
//	  If you know why ...
func (c *originWarnings) print(o *output) {
	type key struct {
		event.WarningKind
		message string
	}
	for _, group := range lists.GroupBy(*c, func(w originWarning) key { return key{w.Kind, w.Message} }) {
		if len(group) == 1 {
			o.printWarning(group[0].dir, group[0].Warning)
			continue
		}
		slices.SortFunc(group, func(a, b originWarning) int {
			return strings.Compare(warningSubject(a.dir, a.Warning), warningSubject(b.dir, b.Warning))
		})
		noun := "module"
		if group[0].Path.IsRoot() {
			noun = "project"
		}
		var lines []string
		var remedies []advice.Remedy
		for _, w := range group {
			line := warningSubject(w.dir, w.Warning)
			if w.Range.Filename != "" {
				line += " (" + o.Place(w.dir, w.Range) + ")"
			}
			lines = append(lines, line)
			remedies = append(remedies, advice.WarningRemedies(w.dir, w.Warning)...)
		}
		headline := fmt.Sprintf("%s, in %s:", group[0].Message, view.Count(len(group), noun))
		o.warnf("%s", strings.Join(slices.Concat([]string{headline}, o.affected(lines), o.AdviceLines(remedies)), "\n"))
	}
}
