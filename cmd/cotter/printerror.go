package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/httpx"
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
	all := o.explained(messages(err))
	if o.json {
		for _, m := range all {
			_ = o.writeProjectJSON(cmp.Or(m.project, o.project), errorRecord{o.record(m)})
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
	failed := distinct(mapped(slices.DeleteFunc(all, func(m message) bool { return m.project == "" }), func(m message) string { return m.project }))
	if len(failed) > 1 {
		fmt.Fprintf(o.stderr, "\n%s failed: %s.\n", count(len(failed), "project"), sanitize.Escape(someOf(failed, maxNamed)))
	}
}

// explained adds causes and remedies to messages. It says of all hosts together that no name was resolved, and not that
// each does not exist.
func (o *output) explained(all []message) []message {
	down := o.networkDown(all)
	return mapped(all, func(m message) message {
		m = o.explainedAlone(m)
		if down != "" && m.err != nil && lookupIn(m.err).name != nameKnown {
			m.text, m.more, m.remedies = down, "", do(checkNetwork)
		}
		return m
	})
}

func (o *output) explainedAlone(m message) message {
	m = o.placed(m)
	m.remedies = append(m.remedies, remediesOf(m.dir, m.err)...)
	found, better := o.causeOf(m)
	if found != nil {
		m.text, m.more, m.body, m.isCause = found.text, found.more, m.requirements, true
		if first, rest, ok := strings.Cut(found.text, "\n"); ok {
			m.text, m.body = first, rest
		}
	}
	if better != nil {
		m.remedies = better
	}
	if report, ok := errors.AsType[reportError](m.err); ok {
		for _, err := range report.causes {
			for _, cause := range messagesOf(m.dir, err) {
				m.remedies = append(m.remedies, o.explainedAlone(cause).remedies...)
			}
		}
		m.remedies = append(m.remedies, report.remedies...)
	}
	m.remedies = inProjectDir(m.dir, m.remedies)
	return m
}

// record returns an explained message as it is in JSON.
func (o *output) record(m message) failureRecord {
	record := failureRecord{
		Summary: m.subject, Detail: m.text + m.more, Module: m.module, Provider: m.provider, jsonPlace: jsonPlace{m.file, m.line},
		Remedy: strings.Join(remedyLines(o.fromHere(m.remedies)), " "),
	}
	if m.body != "" {
		record.Detail += "\n" + m.body
	}
	if m.subject == "" {
		if record.Summary, record.Detail = m.text+m.more, m.body; m.project != "" {
			record.Summary = m.project + ": " + record.Summary
		}
	}
	return record
}

// failures returns records of the messages in errors.
func (o *output) failures(errs []error) []failureRecord {
	return mapped(o.explained(flatten(errs)), o.record)
}

// sameText groups messages with the same text, or about the same rule of a policy.
func sameText(all []message) [][]message {
	alone := 0
	return groupBy(all, func(m message) string {
		switch {
		case m.refusal != nil:
			return m.project + "\n" + m.refusal.rule
		case m.subject != "" && isUnreachable(m.err) && lookupIn(m.err).name == nameKnown: // git and our clients say in different words why
			return "unreachable\n" + hostOf(m.err)
		case m.subject != "" && m.requirements == m.body, m.isCause:
			return m.withoutProject()
		case m.body != "":
			return m.project + "\n" + m.text + "\n" + m.body
		}
		alone++
		return fmt.Sprint(alone)
	})
}

func isUnreachable(err error) bool {
	network, ok := errors.AsType[*httpx.NetworkError](err)
	return ok && !network.IsUntrusted() || errors.Is(err, getmodules.ErrHostUnreachable)
}

func (o *output) printGroup(group []message) {
	m := group[0]
	headline, body := m.title(), m.body
	listed := mapped(group, message.name)
	if refused, lines, ok := refusedTogether(group); ok {
		headline, listed, body = refused, lines, ""
	} else if len(group) > 1 {
		headline, body = together(group), ""
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

// together returns what messages with the same text say.
func together(group []message) string {
	text := group[0].withoutProject()
	if !slices.ContainsFunc(group, func(one message) bool { return one.more != group[0].more }) {
		text += group[0].more
	}
	return text
}

// excerptColumns leaves room for the margin.
func (o *output) excerptColumns() int {
	if o.errColumns == 0 {
		return maxExcerpt
	}
	return o.errColumns - len("  ")
}

// placed names the files of a message as text output shows them.
func (o *output) placed(m message) message {
	if m.placed || o.json {
		return m
	}
	m.placed = true
	m.file = textform.Path(o.shownFile(m.dir, string(m.file)))
	if provider, ok := errors.AsType[*installer.ProviderError](m.err); ok && m.requirements != "" {
		shown := *provider
		shown.RequiredBy = o.shownUses(m.dir, provider.RequiredBy)
		m.body = strings.TrimSuffix(m.body, m.requirements)
		m.requirements = strings.Join(shown.Requirements(), "\n")
		m.body += m.requirements
	}
	return m
}

// sourceDir is what file names in a message are relative to.
func (o *output) sourceDir(m message) string { return cmp.Or(m.dir, o.dir) }

func (o *output) printRemedies(list []remedy) {
	for _, line := range remedyLines(o.fromHere(list)) {
		o.errLine(sanitize.Escape(line))
	}
}

// remedyHere is one remedy, for the project or the directory of the run.
func (o *output) remedyHere(text string, keys ...string) string {
	return o.fromHere([]remedy{{text: text, project: o.project}})[0].line(keys)
}

// fromHere makes commands work on the same project as this run, with its flags.
func (o *output) fromHere(list []remedy) []remedy {
	return withEach(list, func(r *remedy) { r.project, r.again = cmp.Or(r.project, o.dir), o.again })
}

// interrupted prints that the user has interrupted the run, instead of the errors that this caused.
func (o *output) interrupted(ctx context.Context, err error) bool {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || o.json {
		return false
	}
	fmt.Fprintln(o.stderr, cmp.Or(o.whenInterrupted, "Interrupted; nothing was changed."))
	return true
}
