package main

import (
	"errors"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/hashicorp/hcl/v2"
)

// message is one thing that went wrong, ready to print.
type message struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	// Project is the directory of the root module; the envelope has it.
	Project string `json:"-"`
	Module  string `json:"module,omitempty"`
	// Provider is the address of the provider that the message is about.
	Provider string `json:"provider,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Remedy says what to do next. In print for people, it stands behind all messages.
	Remedy string `json:"remedy,omitempty"`

	remedies []remedy

	// at is where the message is about, and dir the directory of the project; dir is ""
	// if there is one project. problem has the words for people, if others fit better.
	at      hcl.Range
	dir     string
	err     error
	problem *problem
	// requirements are the lines of the detail that say who requires a provider.
	requirements string
	// refusal is set if a policy refuses the module or the provider.
	refusal *refusal
}

// text is what has happened, for people.
func (m message) text() string {
	if m.problem != nil {
		return m.problem.fact
	}
	return m.Detail
}

// isOf reports whether the message is about a module or a provider, which the summary
// names.
func (m message) isOf() bool { return m.Module != "" || m.Provider != "" }

// withRemedies is the message with what to do next.
func (m message) withRemedies(list []remedy) message {
	m.Remedy, m.remedies = strings.Join(remedyLines(list), " "), list
	return m
}

// line is the message on one line.
func (m message) line() string {
	text := m.Summary + m.where()
	if m.problem != nil {
		return text + ": " + m.text()
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
	m := oneMessage(err)
	m.dir = dir
	remedies := remediesOf(dir, err)
	var status statusError
	if errors.As(err, &status) {
		for _, m := range flatten(status.causes) {
			remedies = append(remedies, m.remedies...)
		}
	}
	m = m.withRemedies(remedies)
	m.err, m.refusal = err, refusalOf(err)
	return []message{m}
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
			at:      module.Range,
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
			m.File, m.Line, m.at = diag.Subject.Filename, diag.Subject.Start.Line, *diag.Subject
		}
		if repeats(all, m) {
			continue
		}
		m.dir = dir
		all = append(all, m.withRemedies(diagnosticRemedies(dir, diag)))
	}
	return all
}

// repeats reports whether a diagnostic is a consequence of one before it: the parser
// complains of a string that is not closed at each of its ends.
func repeats(all []message, m message) bool {
	if len(all) == 0 {
		return false
	}
	before := all[len(all)-1]
	const split, open = "Invalid multi-line string", "Unterminated template string"
	return before.File == m.File && before.Summary == split && (m.Summary == split || m.Summary == open)
}
