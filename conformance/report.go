package conformance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Violation is an answer of a server that breaks a rule.
type Violation struct {
	// Rule is an ID, such as "modules.versions.json".
	Rule string `json:"rule"`
	// Request is the method and URL, without credentials; "" if no request was possible.
	Request string `json:"request,omitempty"`
	// Message says what the server answered.
	Message string `json:"message"`
}

func (v Violation) String() string {
	text := v.Rule + ": " + v.Message
	if v.Request != "" {
		text += " (" + v.Request + ")"
	}
	if rule, ok := ruleOf(v.Rule); ok {
		text += "; " + rule.Section + ": " + rule.Text
	}
	return text
}

// Report is the result of the checks of one server.
type Report struct {
	// Server is the address that was checked.
	Server string `json:"server"`
	// Checked are the IDs of the compared rules, sorted. A broken rule can leave others unchecked: without
	// a list of versions, no version can be requested.
	Checked []string `json:"checked"`
	// Violations are in the order of the requests.
	Violations []Violation `json:"violations"`
}

// OK reports whether rules were checked and none is broken.
func (r *Report) OK() bool { return len(r.Checked) > 0 && len(r.Violations) == 0 }

// Err returns the violations as one error, nil if OK returns true.
func (r *Report) Err() error {
	if r.OK() {
		return nil
	}
	if len(r.Violations) == 0 {
		return fmt.Errorf("%s: no rule was checked", r.Server)
	}
	var errs []error
	for _, v := range r.Violations {
		errs = append(errs, errors.New(v.String()))
	}
	return errors.Join(errs...)
}

func (r *Report) check(rule string) {
	if at, found := slices.BinarySearch(r.Checked, rule); !found {
		r.Checked = slices.Insert(r.Checked, at, rule)
	}
}

// expect records a violation unless ok.
func (r *Report) expect(ok bool, rule, request, format string, args ...any) bool {
	r.check(rule)
	if !ok {
		r.Violations = append(r.Violations, Violation{Rule: rule, Request: request, Message: fmt.Sprintf(format, args...)})
	}
	return ok
}

// excerpt quotes the beginning of a text.
func excerpt(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}
