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
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// line is the message on one line.
func (m message) line() string {
	text := m.Summary
	if m.File != "" {
		text += fmt.Sprintf(" (%s:%d)", m.File, m.Line)
	}
	if m.Detail != "" {
		text += ": " + m.Detail
	}
	return text
}

// messages takes an error apart into what a user wants to read: each failed
// module and each diagnostic by itself.
func messages(err error) []message {
	if parts := joined(err); parts != nil {
		return flatten(parts)
	}
	var project *cotter.ProjectError
	if errors.As(err, &project) {
		all := messages(project.Err)
		for i := range all {
			all[i].Project = project.Dir
			all[i].Summary = project.Dir + ": " + all[i].Summary
		}
		return all
	}
	var module *cotter.ModuleError
	if errors.As(err, &module) {
		return []message{{
			Summary: "module " + module.Path.String(),
			Detail:  module.Err.Error(),
			Module:  module.Path.String(),
			File:    module.Range.Filename,
			Line:    module.Range.Start.Line,
		}}
	}
	var diags hcl.Diagnostics
	if errors.As(err, &diags) {
		return fromDiagnostics(diags)
	}
	var conflict *cotter.ConflictError
	var refused *cotter.LockedError
	if errors.As(err, &conflict) || errors.As(err, &refused) {
		// They list calls, one in a line.
		title, detail, _ := strings.Cut(err.Error(), "\n")
		if refused != nil {
			detail = strings.ReplaceAll(detail, "\n  ", "\n") // as it is indented when it is printed
		}
		return []message{{Summary: title, Detail: strings.TrimLeft(detail, "\n ")}}
	}
	return []message{{Summary: err.Error()}}
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

func fromDiagnostics(diags hcl.Diagnostics) []message {
	var all []message
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		m := message{Summary: diag.Summary, Detail: diag.Detail}
		if diag.Subject != nil {
			m.File, m.Line = diag.Subject.Filename, diag.Subject.Start.Line
		}
		all = append(all, m)
	}
	return all
}

// printError prints everything that went wrong, on stderr for people and on
// stdout with --json.
func (o *output) printError(err error) {
	for _, m := range messages(err) {
		if o.json {
			_ = o.writeJSON(struct {
				Type string `json:"type"`
				message
			}{"error", m})
			continue
		}
		where := ""
		if m.File != "" {
			where = fmt.Sprintf(" (%s:%d)", m.File, m.Line)
		}
		fmt.Fprintf(o.stderr, "%s %s\n", o.paint(red, "Error:"), sanitize.Escape(m.Summary+where))
		if m.Detail != "" {
			fmt.Fprintf(o.stderr, "\n  %s\n\n", indented(m.Detail))
		}
	}
}
