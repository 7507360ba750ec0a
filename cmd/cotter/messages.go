package main

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/textform"
)

// message is what is said of one failure.
type message struct {
	// project is the directory of the root module, and "" if there is only one. dir is the same, also if the error itself
	// does not name it.
	project, dir string
	// subject names the module call or the provider that the message is about; "" for other messages.
	subject, module, provider string
	file                      textform.Path
	line                      int
	at                        hcl.Range // in the configuration
	// text is what went wrong, and more what is left out if several messages are printed as one. body are further lines.
	text, more, body string
	// requirements are the lines of body about the modules that require a provider.
	requirements string
	remedies     []remedy
	err          error
	isCause      bool     // text is that of a cause
	placed       bool     // by output.placed
	refusal      *refusal // by a policy
}

// title is a message without body.
func (m message) title() string {
	text := m.text + m.more
	if m.subject != "" {
		return m.name() + ": " + text
	}
	if text += m.where(); m.project != "" && !strings.HasPrefix(text, m.project) && !strings.Contains(text, m.project+"/") {
		return m.project + ": " + text
	}
	return text
}

// name is what a message is about, with its place.
func (m message) name() string {
	name := m.subject
	if name == "" {
		name = m.project
	}
	return name + m.where()
}

func (m message) where() string {
	if m.file == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", m.file, m.line)
}

// item is a message in a list.
func (m message) item() string {
	switch {
	case m.body == "":
		return m.title()
	case m.subject != "": // the other lines say who requires it
		return m.title() + "; " + strings.ReplaceAll(m.body, "\n", "; ")
	}
	return m.title() + ": " + m.body
}

// withoutProject returns a text that several projects can have in common, without their directories.
func (m message) withoutProject() string {
	if m.project == "" {
		return m.text
	}
	return strings.ReplaceAll(m.text, m.project+"/", "")
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
		for i, m := range all {
			if all[i].project = project.Dir; m.subject != "" {
				all[i].subject = project.Dir + ": " + m.subject
			}
		}
		return all
	}
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && !is[*installer.ModuleError](err) {
		return fromDiagnostics(dir, diags)
	}
	m := oneMessage(err)
	m.dir, m.err, m.refusal = dir, err, refusalOf(err)
	return []message{m}
}

// oneMessage is for an error that neither joins several errors nor contains diagnostics.
func oneMessage(err error) message {
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		key := module.Path.String()
		m := message{subject: "module " + key, module: key}.placedAt(module.Range)
		m.text, m.body, _ = strings.Cut(module.Err.Error(), "\n")
		return m
	}
	if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		return providerMessage(provider)
	}
	if is[*installer.DialectError](err) || is[*installer.ConflictError](err) || is[*installer.LockedError](err) {
		summary, rest, _ := strings.Cut(err.Error(), "\n")
		if list, indented := strings.CutPrefix(rest, "  "); indented {
			rest = strings.ReplaceAll(list, "\n  ", "\n")
		}
		return message{text: summary, body: strings.TrimSpace(rest)}
	}
	return message{text: err.Error()}
}

// providerMessage has the modules that require the provider in its body.
func providerMessage(err *installer.ProviderError) message {
	m := message{subject: "provider " + err.Provider.ForDisplay(), provider: err.Provider.String()}
	if !err.Version.IsZero() {
		m.subject += " " + err.Version.String()
	}
	if len(err.RequiredBy) == 1 {
		m = m.placedAt(err.RequiredBy[0].Range)
	}
	m.text, m.body, _ = strings.Cut(err.Err.Error(), "\n")
	m.requirements = strings.Join(err.Requirements(), "\n")
	m.body = strings.Trim(m.body+"\n"+m.requirements, "\n")
	return m
}

func (m message) placedAt(at hcl.Range) message {
	m.file, m.line, m.at = textform.Path(at.Filename), at.Start.Line, at
	return m
}

// joined returns nil for errors that errors.Join has not made, such as one that wraps several in a sentence.
func joined(err error) []error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok || reflect.TypeOf(err) != reflect.TypeOf(errors.Join(err)) {
		return nil
	}
	return list.Unwrap()
}

func flatten(errs []error) (all []message) {
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
		m := message{dir: dir, text: diag.Summary, body: diag.Detail, remedies: diagnosticRemedies(dir, diag)}
		if diag.Subject != nil {
			m = m.placedAt(*diag.Subject)
		}
		if !repeats(all, m) {
			all = append(all, m)
		}
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
	return before.file == m.file && before.text == split && (m.text == split || m.text == open)
}
