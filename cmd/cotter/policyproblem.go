package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/policy"
)

// refusal is the refusal of one module or provider by a rule of a policy.
type refusal struct {
	// rule is the policy's argument with its place, such as "cotter.hcl:2, allow_sources".
	rule string
	// reason is the reason why the module or provider is refused.
	reason string
}

// refusalOf returns the refusal in the error of a module or a provider. It returns nil if
// the error has another cause.
func refusalOf(err error) *refusal {
	violation, ok := errors.AsType[*policy.Violation](err)
	if !ok {
		return nil
	}
	var text string
	if module, ok := errors.AsType[*cotter.ModuleError](err); ok {
		text = module.Err.Error()
	} else if provider, ok := errors.AsType[*cotter.ProviderError](err); ok {
		text = provider.Err.Error()
	} else {
		return nil
	}
	rule := "the argument " + violation.Argument
	if violation.Range.Filename != "" {
		rule = fmt.Sprintf("%s:%d, %s", violation.Range.Filename, violation.Range.Start.Line, violation.Argument)
	}
	reason := strings.Replace(text, violation.Error(), violation.Reason, 1)
	return &refusal{rule: rule, reason: strings.ReplaceAll(reason, "\n", "; ")}
}

// refusedTogether returns a headline for several modules and providers that one rule refuses,
// and a line for each of them. ok is false if the group is not such a group.
func refusedTogether(group []message) (headline string, lines []string, ok bool) {
	if len(group) < 2 || group[0].refusal == nil {
		return "", nil, false
	}
	rule, reason := group[0].refusal.rule, group[0].refusal.reason
	modules, same := 0, true
	for _, m := range group {
		same = same && m.refusal.reason == reason
		if m.Module != "" {
			modules++
		}
	}
	if same {
		headline = fmt.Sprintf("the policy does not allow it: %s (%s)", reason, rule)
	} else {
		headline = fmt.Sprintf("the policy does not allow %s (%s)", refusedThings(modules, len(group)-modules), rule)
	}
	for _, m := range group {
		line := m.Summary + m.where()
		if !same {
			line += ": " + m.refusal.reason
		}
		lines = append(lines, line)
	}
	return headline, lines, true
}

func refusedThings(modules, providers int) string {
	switch {
	case providers == 0:
		return count(modules, "module")
	case modules == 0:
		return count(providers, "provider")
	}
	return count(modules, "module") + " and " + count(providers, "provider")
}
