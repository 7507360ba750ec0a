package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
)

type projectOutcome struct {
	dir    string
	result *installer.Result
	lines  []resultLine
}

// projectOutcomes can be hundreds. Text output has a line for each project that has changed and a summary by
// module, or with --verbose a line for each module and provider.
type projectOutcomes []projectOutcome

func (all projectOutcomes) any() bool {
	return slices.ContainsFunc(all, func(p projectOutcome) bool { return p.changes() != "" })
}

// changes returns "" if nothing has changed.
func (p projectOutcome) changes() string { return counted(p.lines) }

func (all projectOutcomes) print(o *output) {
	width := 0
	for _, p := range all {
		if n := utf8.RuneCountInString(p.dir); p.changes() != "" && n <= maxAligned {
			width = max(width, n)
		}
	}
	for _, p := range all {
		switch changes := p.changes(); {
		case o.quiet:
		case changes != "" && !o.verbose:
			o.printf("%s  %s\n", fmt.Sprintf("%-*s", width, p.dir), changes)
		case changes != "":
			o.printf("%s: %s\n", p.dir, changes)
			o.printOutcomes(p.lines, "    ")
		case o.verbose:
			o.printf("%s: up to date\n", p.dir)
		}
	}
	all.printUnsigned(o)
	if o.quiet {
		return
	}
	all.printEarlierLocks(o)
	if list := all.releases(); !o.verbose && len(list) > 0 {
		o.printf("\n")
		o.printReleases(list)
		o.printf("\n")
	}
}

// printEarlierLocks explains the first project with an earlier lock, and names the others.
func (all projectOutcomes) printEarlierLocks(o *output) {
	var others []string
	first := true
	for _, p := range all {
		switch {
		case p.result.EarlierLock == "":
		case first || o.verbose:
			first = false
			o.earlierLock(p.dir, p.result)
		default:
			others = append(others, p.dir)
		}
	}
	if others != nil {
		o.printf("The same is true for %s.\n", view.SomeOf(others, view.MaxNamed))
	}
}

// printUnsigned names the providers that the projects bring, each once.
func (all projectOutcomes) printUnsigned(o *output) {
	type providers struct{ dir, names string }
	var brought []providers
	for _, p := range all {
		switch names := fromProject(p.result.Providers); {
		case o.verbose:
			o.unsigned(p.dir+": ", names)
		case len(names) > 0:
			brought = append(brought, providers{p.dir, strings.Join(names, ", ")})
		}
	}
	for _, same := range lists.GroupBy(brought, func(p providers) string { return p.names }) {
		subject := same[0].dir
		if n := len(same); n > 1 {
			subject = view.Count(n, "project")
		}
		o.unsigned(subject+": ", strings.Split(same[0].names, ", "))
	}
}

type releaseSummary struct {
	verb, name, release string
	dirs                []string // the projects, in their order
	breaking            []string // what breaks, with the places of calls
}

// releases joins the same changes of several projects. Those that break calls are first, then those of most
// projects.
func (all projectOutcomes) releases() []*releaseSummary {
	type change struct {
		resultLine
		dir string
	}
	var changes []change
	for _, p := range all {
		for _, line := range p.lines {
			changes = append(changes, change{line, p.dir})
		}
	}
	var list []*releaseSummary
	for _, same := range lists.GroupBy(changes, func(c change) [3]string { return [...]string{c.verb, c.name, c.release} }) {
		s := &releaseSummary{verb: same[0].verb, name: same[0].name, release: same[0].release}
		for _, c := range same {
			s.breaking = append(s.breaking, c.breaking...)
			s.dirs = append(s.dirs, c.dir)
		}
		s.dirs = slices.Compact(s.dirs) // in the order of the projects
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b *releaseSummary) int {
		return cmp.Or(
			cmp.Compare(min(len(b.breaking), 1), min(len(a.breaking), 1)),
			cmp.Compare(len(b.dirs), len(a.dirs)),
			cmp.Compare(slices.Index(verbs, a.verb), slices.Index(verbs, b.verb)),
			strings.Compare(a.name, b.name),
		)
	})
	return list
}

// For each summary, and for each change in it.
const (
	maxReleases = 40
	maxBreaking = 3
)

func (o *output) printReleases(list []*releaseSummary) {
	var lines []resultLine
	for _, s := range list[:min(len(list), maxReleases)] {
		line := resultLine{verb: s.verb, subject: s.name, what: s.release + " " + inDirs(s.dirs)}
		line.details = slices.Compact(slices.Clone(s.breaking))
		if n := len(line.details); n > maxBreaking {
			line.details = append(line.details[:maxBreaking:maxBreaking], fmt.Sprintf("... and %s", view.Count(n-maxBreaking, "more breaking change")))
		}
		lines = append(lines, line)
	}
	o.printOutcomes(lines, "")
	if rest := len(list) - len(lines); rest > 0 {
		o.printf("... and %s\n", view.Count(rest, "more change"))
	}
}

func inDirs(dirs []string) string {
	if len(dirs) == 1 {
		return "in " + dirs[0]
	}
	return "in " + view.Count(len(dirs), "project")
}
