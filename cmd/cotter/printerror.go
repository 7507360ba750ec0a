package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/sanitize"
)

// printError prints everything that went wrong, and then what to do about it. It prints text
// to stderr or, with --json, JSON to stdout if that can be written.
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
	all := o.Explain(advice.Messages(err))
	if o.json && o.writeErrors(all) == nil {
		return
	}
	var remedies []advice.Remedy
	for i, group := range advice.SameText(all) {
		if i > 0 {
			fmt.Fprintln(o.stderr)
		}
		o.printGroup(group)
		for _, m := range group {
			remedies = append(remedies, m.Remedies...)
		}
	}
	if len(remedies) > 0 {
		fmt.Fprintln(o.stderr)
	}
	o.printRemedies(remedies)
	failed := lists.Distinct(lists.Map(slices.DeleteFunc(all, func(m advice.Message) bool { return m.Project == "" }), func(m advice.Message) string { return m.Project }))
	if len(failed) > 1 {
		fmt.Fprintf(o.stderr, "\n%s failed: %s.\n", view.Count(len(failed), "project"), sanitize.Escape(view.SomeOf(failed, view.MaxNamed)))
	}
}

func (o *output) writeErrors(all []advice.Message) error {
	for _, m := range all {
		if err := o.writeProjectJSON(cmp.Or(m.Project, o.Project), records.Error{Failure: o.record(m)}); err != nil {
			return err
		}
	}
	return nil
}

// record returns an explained message as it is in JSON.
func (o *output) record(m advice.Message) records.Failure {
	record := records.Failure{
		Summary: m.Subject, Detail: m.Text + m.More, Module: m.Module, Provider: m.Provider, Place: records.Place{File: m.File, Line: m.Line},
		Remedy: strings.Join(o.AdviceLines(m.Remedies), " "),
	}
	if m.Body != "" {
		record.Detail += "\n" + m.Body
	}
	if m.Subject == "" {
		if record.Summary, record.Detail = m.Text+m.More, m.Body; m.Project != "" {
			record.Summary = m.Project + ": " + record.Summary
		}
	}
	return record
}

// failures returns records of the messages in errors.
func (o *output) failures(errs []error) []records.Failure {
	return lists.Map(o.Explain(advice.MessagesIn(errs)), o.record)
}

func (o *output) printGroup(group []advice.Message) {
	m := group[0]
	headline, body := m.Title(), m.Body
	listed := lists.Map(group, advice.Message.Name)
	if refused, lines, ok := advice.RefusedTogether(group); ok {
		headline, listed, body = refused, lines, ""
	} else if len(group) > 1 {
		headline, body = advice.Together(group), ""
	}
	o.errLineOf(red, "Error:", sanitize.Escape(headline))
	if len(group) > 1 {
		fmt.Fprintln(o.stderr)
		for _, line := range o.affected(listed) {
			o.errLine("  " + sanitize.Escape(line))
		}
	} else if lines := view.Excerpt(o.SourceDir(m), m.At, o.excerptColumns()); lines != nil {
		fmt.Fprintln(o.stderr)
		for _, line := range lines {
			fmt.Fprintf(o.stderr, "  %s\n", line)
		}
	}
	if body != "" {
		o.errLine("\n  " + strings.ReplaceAll(view.Indented(body), "\n  \n", "\n\n"))
	}
}

// excerptColumns leaves room for the margin.
func (o *output) excerptColumns() int {
	if o.errColumns == 0 {
		return view.MaxExcerpt
	}
	return o.errColumns - len("  ")
}

func (o *output) printRemedies(list []advice.Remedy) {
	for _, line := range o.AdviceLines(list) {
		o.errLine(sanitize.Escape(line))
	}
}

// interrupted prints that the user has interrupted the run, instead of the errors that this caused.
func (o *output) interrupted(ctx context.Context, err error) bool {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) || o.json {
		return false
	}
	fmt.Fprintln(o.stderr, cmp.Or(o.whenInterrupted, "Interrupted; nothing was changed."))
	return true
}
