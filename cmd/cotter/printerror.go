package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/cotterpin/cotter/internal/textform"
)

// printError prints everything that went wrong, and then what to do about it. It prints text
// to stderr or, with --json, JSON to stdout.
//
//	Error: module network (main.tf:3): no version meets the constraint "~> 9.0"
//
//	  3 |   version = "~> 9.0"
//	    |             ^^^^^^^^
//
// An error that several calls have in common is printed once, followed by the calls:
//
//	Error: registry.example.com cannot be reached: connection refused
//
//	  module app.tags (app/main.tf:2)
//	  module network (main.tf:3)
func (o *output) printError(err error) {
	all := messages(err)
	o.explainAll(all)
	if o.json {
		for _, m := range all {
			_ = o.writeProjectJSON(cmp.Or(m.Project, o.project), errorRecord{o.record(m)})
		}
		return
	}
	var remedies []remedy
	for i, group := range sameText(all) {
		if i > 0 {
			fmt.Fprintln(o.stderr)
		}
		o.printGroup(group)
		for _, m := range group {
			remedies = append(remedies, m.remedies...)
		}
	}
	if len(remedies) > 0 {
		fmt.Fprintln(o.stderr)
	}
	o.printRemedies(remedies)
	if failed := failedProjects(all); len(failed) > 1 {
		fmt.Fprintf(o.stderr, "\n%s failed: %s.\n", count(len(failed), "project"), sanitize.Escape(someOf(failed, maxNamed)))
	}
}

func failedProjects(all []message) []string {
	var dirs []string
	for _, m := range all {
		if m.Project != "" && !slices.Contains(dirs, m.Project) {
			dirs = append(dirs, m.Project)
		}
	}
	return dirs
}

func (o *output) explained(m message) message {
	if m = o.placed(m); m.err == nil {
		m.problem = o.conflict(m)
	} else if m.problem = problemOf(m.err); m.problem == nil {
		m.problem = o.projectProblem(m)
	}
	if report, ok := errors.AsType[reportError](m.err); ok {
		for _, err := range report.causes {
			for _, cause := range messagesOf(m.dir, err) {
				m.remedies = append(m.remedies, o.explained(cause).remedies...)
			}
		}
		m.remedies = append(m.remedies, inProjectDir(m.dir, report.remedies)...)
	}
	if m.problem == nil {
		return m
	}
	if o.bundle && errors.Is(m.err, installer.ErrOffline) {
		m.problem = &problem{text: "neither in the bundle nor in the cache", instead: true,
			remedies: do("Make a new bundle with `cotter bundle create`, or run the command once without `--bundle`.")}
	}
	if m.problem.instead {
		m.remedies = nil
	}
	if host := m.problem.unreached; host != "" {
		m.problem.remedies = unreachedRemedies(host, m.problem.name, func() []string { return o.knownHosts(m) })
	}
	m.remedies = slices.Concat(m.remedies, inProjectDir(m.dir, m.problem.remedies))
	return m
}

// record returns an explained message as it is in JSON, with the words of text output.
func (o *output) record(m message) message {
	m.Remedy = strings.Join(remedyLines(o.fromHere(m.remedies)), " ")
	if m.problem == nil {
		return m
	}
	text := m.problem.text + m.problem.more
	switch {
	case !m.isOf() && m.Project != "":
		m.Summary, m.Detail = m.Project+": "+text, ""
	case !m.isOf():
		m.Summary, m.Detail = text, ""
	case m.requirements != "":
		m.Detail = text + "\n" + m.requirements
	default:
		m.Detail = text
	}
	return m
}

// failures returns records of the messages in errors.
func (o *output) failures(errs []error) []message {
	all := flatten(errs)
	o.explainAll(all)
	return mapped(all, o.record)
}

// explainAll says of all hosts together that no name was resolved, and not that each does not exist.
func (o *output) explainAll(all []message) {
	for i, m := range all {
		all[i] = o.explained(m)
	}
	down := o.networkDown(all)
	if down == nil {
		return
	}
	for i, m := range all {
		if m.unresolved() {
			others := m.remedies[:len(m.remedies)-len(m.problem.remedies)]
			all[i].problem, all[i].remedies = down, slices.Concat(others, down.remedies)
		}
	}
}

// sameText groups messages with the same text, or about the same rule of a policy.
func sameText(all []message) [][]message {
	alone := 0
	return groupBy(all, func(m message) string {
		switch {
		case m.refusal != nil:
			return m.Project + "\n" + m.refusal.rule
		case m.isOf() && m.problem != nil && m.problem.unreached != "": // git and our clients say in different words why
			return "unreachable\n" + hostOf(m.err)
		case m.text() == "":
			alone++
			return fmt.Sprint(alone)
		case m.isOf():
			return m.text()
		case m.problem != nil:
			return m.withoutProject()
		}
		return m.Summary + "\n" + m.text()
	})
}

func (o *output) printGroup(group []message) {
	m := group[0]
	headline, body := m.parts()
	var listed []string
	for _, one := range group {
		if one.isOf() || one.problem == nil {
			listed = append(listed, one.Summary+one.where())
		} else {
			listed = append(listed, one.Project)
		}
	}
	if refused, lines, ok := refusedTogether(group); ok {
		headline, listed, body = refused, lines, ""
	} else if len(group) > 1 && (m.isOf() || m.problem != nil) {
		headline, body, _ = strings.Cut(m.withoutProject(), "\n")
		if m.problem != nil && !slices.ContainsFunc(group, func(one message) bool { return one.problem.more != m.problem.more }) {
			headline += m.problem.more
		}
		if m.Provider != "" {
			body = ""
		}
	}
	o.errLineOf(red, "Error:", sanitize.Escape(headline))
	if len(group) > 1 {
		fmt.Fprintln(o.stderr)
		for _, line := range o.affected(listed) {
			o.errLine("  " + sanitize.Escape(line))
		}
	} else if lines := sourceExcerpt(o.sourceDir(m), m.at, o.excerptColumns()); lines != nil {
		fmt.Fprintln(o.stderr)
		for _, line := range lines {
			fmt.Fprintf(o.stderr, "  %s\n", line)
		}
	}
	if body != "" {
		o.errLine("\n  " + strings.ReplaceAll(indented(body), "\n  \n", "\n\n"))
	}
}

// excerptColumns leaves room for the margin.
func (o *output) excerptColumns() int {
	if o.errColumns == 0 {
		return maxExcerpt
	}
	return o.errColumns - len("  ")
}

// withoutProject returns a text that several projects can have in common, without their directories.
func (m message) withoutProject() string {
	if m.Project == "" {
		return m.text()
	}
	return strings.ReplaceAll(m.text(), m.Project+"/", "")
}

// parts returns the first line of a message, and the text after the excerpt of the source.
func (m message) parts() (headline, body string) {
	first, rest, _ := strings.Cut(m.text(), "\n")
	switch {
	case m.isOf():
		if m.problem != nil {
			first += m.problem.more
			rest = m.requirements
		}
		return m.Summary + m.where() + ": " + first, rest
	case m.problem != nil && m.Project != "" && !strings.HasPrefix(first, m.Project) && !strings.Contains(first, m.Project+"/"):
		return m.Project + ": " + first, rest
	case m.problem != nil:
		return first, rest
	}
	return m.Summary + m.where(), m.Detail
}

func (m message) where() string {
	if m.File == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", m.File, m.Line)
}

// placed names the files of a message as text output shows them.
func (o *output) placed(m message) message {
	if m.placed || o.json {
		return m
	}
	m.placed = true
	m.File = textform.Path(o.shownFile(m.dir, string(m.File)))
	if provider, ok := errors.AsType[*installer.ProviderError](m.err); ok && m.requirements != "" {
		shown := *provider
		shown.RequiredBy = o.shownUses(m.dir, provider.RequiredBy)
		m.Detail = strings.TrimSuffix(m.Detail, m.requirements)
		m.requirements = strings.Join(shown.Requirements(), "\n")
		m.Detail += m.requirements
	}
	return m
}

// sourceDir is what file names in a message are relative to.
func (o *output) sourceDir(m message) string {
	if m.dir != "" {
		return m.dir
	}
	return o.dir
}

func (o *output) printRemedies(list []remedy) {
	for _, line := range remedyLines(o.fromHere(list)) {
		o.errLine(sanitize.Escape(line))
	}
}

// remedyHere is one remedy, for the project or the directory of the run.
func (o *output) remedyHere(text string, keys ...string) string {
	return remedy{text: text, project: cmp.Or(o.project, o.dir), tool: o.tool}.line(keys)
}

// fromHere makes commands do the same as this run: with --chdir or --for, they need this flag as well.
func (o *output) fromHere(list []remedy) []remedy {
	list = slices.Clone(list)
	for i := range list {
		list[i].project, list[i].tool = cmp.Or(list[i].project, o.dir), o.tool
	}
	return list
}

// interrupted prints that the user has interrupted the run, instead of the errors that this caused.
func (o *output) interrupted(ctx context.Context, err error) bool {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || o.json {
		return false
	}
	fmt.Fprintln(o.stderr, cmp.Or(o.whenInterrupted, "Interrupted; nothing was changed."))
	return true
}
