package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/internal/sanitize"
	"github.com/hashicorp/hcl/v2"
)

// message is one thing that went wrong, ready to print.
type message struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	Project string `json:"project,omitempty"`
	Module  string `json:"module,omitempty"`
	// Provider is the address of the provider that the message is about.
	Provider string `json:"provider,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Remedy says what to do next. In print for people, it stands behind all messages.
	Remedy string `json:"remedy,omitempty"`

	remedies []remedy
}

// withRemedies is the message with what to do next.
func (m message) withRemedies(list []remedy) message {
	m.Remedy, m.remedies = strings.Join(remedyLines(list), " "), list
	return m
}

// line is the message on one line.
func (m message) line() string {
	text := m.Summary
	if m.File != "" {
		text += fmt.Sprintf(" (%s:%d)", m.File, m.Line)
	}
	if m.Provider != "" {
		return text + ": " + strings.ReplaceAll(m.Detail, "\n", "; ") // below it stands who requires it
	}
	if m.Detail != "" {
		text += ": " + m.Detail
	}
	return text
}

// messages takes an error apart into what a user wants to read: each failed
// module and each diagnostic by itself.
func messages(err error) []message { return messagesOf("", err) }

// messagesOf is messages for one of several projects; "" if there is one.
func messagesOf(dir string, err error) []message {
	if parts := joined(err); parts != nil {
		var all []message
		for _, part := range parts {
			all = append(all, messagesOf(dir, part)...)
		}
		return all
	}
	var project *cotter.ProjectError
	if errors.As(err, &project) && dir == "" {
		all := messagesOf(project.Dir, project.Err)
		for i := range all {
			all[i].Project = project.Dir
			all[i].Summary = project.Dir + ": " + all[i].Summary
		}
		return all
	}
	var diags hcl.Diagnostics
	if errors.As(err, &diags) && !is[*cotter.ModuleError](err) {
		return fromDiagnostics(dir, diags)
	}
	remedies := remediesOf(dir, err)
	var status statusError
	if errors.As(err, &status) {
		for _, m := range flatten(status.causes) {
			remedies = append(remedies, m.remedies...)
		}
	}
	return []message{oneMessage(err).withRemedies(remedies)}
}

// oneMessage is the message of an error that is neither several ones nor
// diagnostics.
func oneMessage(err error) message {
	var module *cotter.ModuleError
	if errors.As(err, &module) {
		return message{
			Summary: "module " + module.Path.String(),
			Detail:  module.Err.Error(),
			Module:  module.Path.String(),
			File:    module.Range.Filename,
			Line:    module.Range.Start.Line,
		}
	}
	var provider *cotter.ProviderError
	if errors.As(err, &provider) {
		return providerMessage(provider)
	}
	var conflict *cotter.ConflictError
	var refused *cotter.LockedError
	if errors.As(err, &conflict) || errors.As(err, &refused) {
		// They list calls, one in a line.
		title, detail, _ := strings.Cut(err.Error(), "\n")
		if refused != nil {
			detail = strings.ReplaceAll(detail, "\n  ", "\n") // as it is indented when it is printed
		}
		return message{Summary: title, Detail: strings.TrimLeft(detail, "\n ")}
	}
	return message{Summary: err.Error()}
}

// joined is what errors.Join joined, or nil. An error that wraps several others
// in a sentence of its own is one message.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok || errors.Join(list.Unwrap()...).Error() != err.Error() {
		return nil
	}
	return list.Unwrap()
}

func flatten(errs []error) []message {
	var all []message
	for _, err := range errs {
		all = append(all, messages(err)...)
	}
	return all
}

func fromDiagnostics(dir string, diags hcl.Diagnostics) []message {
	var all []message
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		m := message{Summary: diag.Summary, Detail: diag.Detail}
		if diag.Subject != nil {
			m.File, m.Line = diag.Subject.Filename, diag.Subject.Start.Line
		}
		all = append(all, m.withRemedies(diagnosticRemedies(dir, diag)))
	}
	return all
}

// printError prints everything that went wrong, and then what to do about it: on
// stderr for people, and on stdout with --json.
func (o *output) printError(err error) {
	all := messages(err)
	if o.json {
		for _, m := range all {
			_ = o.writeJSON(struct {
				Type string `json:"type"`
				message
			}{"error", m})
		}
		return
	}
	var remedies []remedy
	for _, group := range sameDetail(all) {
		for _, m := range group {
			where := ""
			if m.File != "" {
				where = fmt.Sprintf(" (%s:%d)", m.File, m.Line)
			}
			fmt.Fprintf(o.stderr, "%s %s\n", o.paint(red, "Error:"), sanitize.Escape(m.Summary+where))
			remedies = append(remedies, m.remedies...)
		}
		if detail := group[0].Detail; detail != "" {
			fmt.Fprintf(o.stderr, "\n  %s\n\n", indented(detail))
		}
	}
	o.printRemedies(remedies)
}

// sameDetail puts messages with the same detail together, so that it is printed
// once.
func sameDetail(all []message) [][]message {
	var groups [][]message
	index := make(map[string]int)
	for _, m := range all {
		i, ok := index[m.Detail]
		if !ok || m.Detail == "" {
			i = len(groups)
			index[m.Detail] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], m)
	}
	return groups
}

// printRemedies prints what to do about messages that were printed.
func (o *output) printRemedies(list []remedy) {
	for _, line := range remedyLines(list) {
		fmt.Fprintln(o.stderr, sanitize.Escape(line))
	}
}
