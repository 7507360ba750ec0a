package advice

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/text/textform"
)

// Message is what is said of one failure.
type Message struct {
	// Project is the directory of the root module, and "" if there is only one. dir is the same, also if the error itself
	// does not name it.
	Project, Dir string
	// Subject names the module call or the provider that the message is about; "" for other messages.
	Subject, Module, Provider string
	File                      textform.Path
	Line                      int
	At                        hcl.Range // in the configuration
	// Text is what went wrong, and more what is left out if several messages are printed as one. body are further lines.
	Text, More, Body string
	// requirements are the lines of body about the modules that require a provider.
	requirements string
	Remedies     []Remedy
	err          error
	isCause      bool     // text is that of a cause
	placed       bool     // by Run.Placed
	refusal      *refusal // by a policy
}

// Title is a message without body.
func (m Message) Title() string {
	text := m.Text + m.More
	if m.Subject != "" {
		return m.Name() + ": " + text
	}
	if text += m.where(); m.Project != "" && !strings.HasPrefix(text, m.Project) && !strings.Contains(text, m.Project+"/") {
		return m.Project + ": " + text
	}
	return text
}

// Name is what a message is about, with its place.
func (m Message) Name() string {
	name := m.Subject
	if name == "" {
		name = m.Project
	}
	return name + m.where()
}

func (m Message) where() string {
	if m.File == "" {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", m.File, m.Line)
}

// Item is a message in a list.
func (m Message) Item() string {
	switch {
	case m.Body == "":
		return m.Title()
	case m.Subject != "": // the other lines say who requires it
		return m.Title() + "; " + strings.ReplaceAll(m.Body, "\n", "; ")
	}
	return m.Title() + ": " + m.Body
}

// withoutProject returns a text that several projects can have in common, without their directories.
func (m Message) withoutProject() string {
	if m.Project == "" {
		return m.Text
	}
	return strings.ReplaceAll(m.Text, m.Project+"/", "")
}

// Messages returns a message for each failed module and each diagnostic in an error.
func Messages(err error) []Message { return messagesOf("", err) }

// messagesOf is messages for one of several projects. dir is "" if there is only one.
func messagesOf(dir string, err error) []Message {
	if parts := joined(err); parts != nil {
		var all []Message
		for _, part := range parts {
			all = append(all, messagesOf(dir, part)...)
		}
		return all
	}
	if project, ok := errors.AsType[*installer.ProjectError](err); ok && dir == "" {
		all := messagesOf(project.Dir, project.Err)
		for i, m := range all {
			if all[i].Project = project.Dir; m.Subject != "" {
				all[i].Subject = project.Dir + ": " + m.Subject
			}
		}
		return all
	}
	if diags, ok := errors.AsType[hcl.Diagnostics](err); ok && !Is[*installer.ModuleError](err) {
		return fromDiagnostics(dir, diags)
	}
	m := MessageOf(err)
	m.Dir, m.err, m.refusal = dir, err, refusalOf(err)
	return []Message{m}
}

// MessageOf is for an error that neither joins several errors nor contains diagnostics.
func MessageOf(err error) Message {
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		key := module.Path.String()
		m := Message{Subject: "module " + key, Module: key}.placedAt(module.Range)
		m.Text, m.Body, _ = strings.Cut(module.Err.Error(), "\n")
		return m
	}
	if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		return providerMessage(provider)
	}
	if Is[*installer.DialectError](err) || Is[*installer.ConflictError](err) || Is[*installer.LockedError](err) {
		summary, rest, _ := strings.Cut(err.Error(), "\n")
		if list, indented := strings.CutPrefix(rest, "  "); indented {
			rest = strings.ReplaceAll(list, "\n  ", "\n")
		}
		return Message{Text: summary, Body: strings.TrimSpace(rest)}
	}
	return Message{Text: err.Error()}
}

// providerMessage has the modules that require the provider in its body.
func providerMessage(err *installer.ProviderError) Message {
	m := Message{Subject: "provider " + err.Provider.ForDisplay(), Provider: err.Provider.String()}
	if !err.Version.IsZero() {
		m.Subject += " " + err.Version.String()
	}
	if len(err.RequiredBy) == 1 {
		m = m.placedAt(err.RequiredBy[0].Range)
	}
	m.Text, m.Body, _ = strings.Cut(err.Err.Error(), "\n")
	m.requirements = strings.Join(err.Requirements(), "\n")
	m.Body = strings.Trim(m.Body+"\n"+m.requirements, "\n")
	return m
}

func (m Message) placedAt(at hcl.Range) Message {
	m.File, m.Line, m.At = textform.Path(at.Filename), at.Start.Line, at
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

func MessagesIn(errs []error) (all []Message) {
	for _, err := range errs {
		all = append(all, Messages(err)...)
	}
	return all
}

func fromDiagnostics(dir string, diags hcl.Diagnostics) []Message {
	var all []Message
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		m := Message{Dir: dir, Text: diag.Summary, Body: diag.Detail, Remedies: diagnosticRemedies(dir, diag)}
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
func repeats(all []Message, m Message) bool {
	if len(all) == 0 {
		return false
	}
	before := all[len(all)-1]
	const split, open = "Invalid multi-line string", "Unterminated template string"
	return before.File == m.File && before.Text == split && (m.Text == split || m.Text == open)
}
