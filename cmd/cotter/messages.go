package main

import (
	"errors"
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
)

// message is the description of a failure.
type message struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	// Project is the directory of the root module. In JSON it is part of the envelope.
	Project string `json:"-"`
	Module  string `json:"module,omitempty"`
	// Provider is the address of the provider that the message is about.
	Provider string `json:"provider,omitempty"`
	jsonPlace
	// Remedy says what to do next.
	Remedy string `json:"remedy,omitempty"`

	// remedies are what Remedy consists of; see output.record. Text output prints them after all messages.
	remedies []remedy

	at  hcl.Range // the position in the configuration that the message is about
	dir string    // the directory of the project, or "" if there is only one project
	err error
	// problem is a better wording, or nil.
	problem *problem
	// requirements are the lines of Detail about the modules that require a provider.
	requirements string
	placed       bool     // by output.placed
	refusal      *refusal // by a policy
}

func (m message) text() string {
	if m.problem != nil {
		return m.problem.text
	}
	return m.Detail
}

// isOf reports whether the message is about a module or a provider, which the summary names.
func (m message) isOf() bool { return m.Module != "" || m.Provider != "" }

func (m message) line() string {
	text := m.Summary + m.where()
	if m.problem != nil {
		return text + ": " + m.text()
	}
	if m.Provider != "" {
		return text + ": " + strings.ReplaceAll(m.Detail, "\n", "; ") // the other lines say who requires it
	}
	if m.Detail != "" {
		text += ": " + m.Detail
	}
	return text
}

// together returns messages with the same text on one line. m is the first one.
func (m message) together(group []message) string {
	if len(group) < 2 || !m.isOf() {
		return m.line()
	}
	text, _, _ := strings.Cut(m.text(), "\n")
	var of []string
	for _, one := range group {
		of = append(of, one.Summary+one.where())
	}
	return text + ": " + strings.Join(of, ", ")
}

// messages returns a message for each failed module and each diagnostic in an error.
func messages(err error) []message { return messagesOf("", err) }

// messagesOf is messages for one of several projects. dir is "" if there is only one.
func messagesOf(dir string, err error) []message {
	if parts := joined(err); parts != nil {
		var all []message
		for _, part := range parts {
			all = append(all, messagesOf(dir, part)...)
		}
		return all
	}
	if project, ok := errors.AsType[*installer.ProjectError](err); ok && dir == "" {
		all := messagesOf(project.Dir, project.Err)
		for i := range all {
			all[i].Project = project.Dir
			all[i].Summary = project.Dir + ": " + all[i].Summary
		}
		return all
	}
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && !is[*installer.ModuleError](err) {
		return fromDiagnostics(dir, diags)
	}
	m := oneMessage(err)
	m.dir = dir
	m.remedies, m.err, m.refusal = remediesOf(dir, err), err, refusalOf(err)
	return []message{m}
}

// oneMessage is for an error that neither joins several errors nor contains diagnostics.
func oneMessage(err error) message {
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		key := module.Path.String()
		return message{Summary: "module " + key, Detail: module.Err.Error(), Module: key, jsonPlace: placeOf(module.Range), at: module.Range}
	}
	if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		return providerMessage(provider)
	}
	if is[*installer.DialectError](err) || is[*installer.ConflictError](err) || is[*installer.LockedError](err) {
		return listMessage(err)
	}
	return message{Summary: err.Error()}
}

// listMessage is for an error whose first line is a summary.
func listMessage(err error) message {
	summary, rest, _ := strings.Cut(err.Error(), "\n")
	if list, indented := strings.CutPrefix(rest, "  "); indented {
		rest = strings.ReplaceAll(list, "\n  ", "\n")
	}
	return message{Summary: summary, Detail: strings.TrimSpace(rest)}
}

// joined returns nil for errors that errors.Join has not made, such as one that wraps several in a sentence.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != reflect.TypeOf(errors.Join(err)) {
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
			m.jsonPlace, m.at = placeOf(*diag.Subject), *diag.Subject
		}
		if repeats(all, m) {
			continue
		}
		m.dir, m.remedies = dir, diagnosticRemedies(dir, diag)
		all = append(all, m)
	}
	return all
}

// repeats finds diagnostics that only repeat the previous one: an unclosed string is reported at each end.
func repeats(all []message, m message) bool {
	if len(all) == 0 {
		return false
	}
	before := all[len(all)-1]
	const split, open = "Invalid multi-line string", "Unterminated template string"
	return before.File == m.File && before.Summary == split && (m.Summary == split || m.Summary == open)
}
