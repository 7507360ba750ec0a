package advice

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/policy"
)

// Explain adds causes and remedies to messages. It says of all hosts together that no name was resolved, and not that
// each does not exist.
func (r *Run) Explain(all []Message) []Message {
	down := r.networkDown(all)
	return lists.Map(all, func(m Message) Message {
		m = r.ExplainOne(m)
		if down != "" && m.err != nil && lookupIn(m.err).name != nameKnown {
			m.Text, m.More, m.Remedies = down, "", do(checkNetwork)
		}
		return m
	})
}

func (r *Run) ExplainOne(m Message) Message {
	m = r.Placed(m)
	m.Remedies = append(m.Remedies, RemediesOf(m.Dir, m.err)...)
	found, better := r.causeOf(m)
	if found != nil {
		m.Text, m.More, m.Body, m.isCause = found.text, found.more, m.requirements, true
		if first, rest, ok := strings.Cut(found.text, "\n"); ok {
			m.Text, m.Body = first, rest
		}
	}
	if better != nil {
		m.Remedies = better
	}
	if report, ok := errors.AsType[ReportError](m.err); ok {
		for _, err := range report.Causes {
			for _, cause := range messagesOf(m.Dir, err) {
				m.Remedies = append(m.Remedies, r.ExplainOne(cause).Remedies...)
			}
		}
		m.Remedies = append(m.Remedies, report.Remedies...)
	}
	m.Remedies = inProjectDir(m.Dir, m.Remedies)
	return m
}

// Placed names the files of a message as text output shows them.
func (r *Run) Placed(m Message) Message {
	if m.placed || r.PlainNames {
		return m
	}
	m.placed = true
	m.File = textform.Path(r.ShownFile(m.Dir, string(m.File)))
	if provider, ok := errors.AsType[*installer.ProviderError](m.err); ok && m.requirements != "" {
		shown := *provider
		shown.RequiredBy = r.shownUses(m.Dir, provider.RequiredBy)
		m.Body = strings.TrimSuffix(m.Body, m.requirements)
		m.requirements = strings.Join(shown.Requirements(), "\n")
		m.Body += m.requirements
	}
	return m
}

// SourceDir is what file names in a message are relative to.
func (r *Run) SourceDir(m Message) string { return cmp.Or(m.Dir, r.Dir) }

// RemedyIn is one remedy, for a project or, with "", for the directory of the run.
func (r *Run) RemedyIn(project, text string, keys ...string) string {
	return r.fromHere([]Remedy{{text: text, project: project}})[0].line(keys)
}

// AdviceLines are lines with what to do, each once.
func (r *Run) AdviceLines(list []Remedy) []string { return remedyLines(r.fromHere(list)) }

// fromHere makes commands work on the same project as this run, with its flags.
func (r *Run) fromHere(list []Remedy) []Remedy {
	return lists.WithEach(list, func(one *Remedy) { one.project, one.again = cmp.Or(one.project, r.Dir), r.Again })
}

// SameText groups messages with the same text, or about the same rule of a policy.
func SameText(all []Message) [][]Message {
	alone := 0
	return lists.GroupBy(all, func(m Message) string {
		switch {
		case m.refusal != nil:
			return m.Project + "\n" + m.refusal.rule
		case m.Subject != "" && isUnreachable(m.err) && lookupIn(m.err).name == nameKnown: // git and our clients say in different words why
			return "unreachable\n" + hostOf(m.err)
		case m.Subject != "" && m.requirements == m.Body, m.isCause:
			return m.withoutProject()
		case m.Body != "":
			return m.Project + "\n" + m.Text + "\n" + m.Body
		}
		alone++
		return fmt.Sprint(alone)
	})
}

func isUnreachable(err error) bool {
	network, ok := errors.AsType[*httpx.NetworkError](err)
	return ok && !network.IsUntrusted() || errors.Is(err, getmodules.ErrHostUnreachable)
}

// Together returns what messages with the same text say.
func Together(group []Message) string {
	text := group[0].withoutProject()
	if !slices.ContainsFunc(group, func(one Message) bool { return one.More != group[0].More }) {
		text += group[0].More
	}
	return text
}

// refusal says that a rule, such as "cotter.hcl:2, allow_sources", refuses a module or provider.
type refusal struct{ rule, reason string }

// refusalOf returns nil if the error of a module or a provider has another cause.
func refusalOf(err error) *refusal {
	violation, ok := errors.AsType[*policy.Violation](err)
	if !ok {
		return nil
	}
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		err = module.Err
	} else if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		err = provider.Err
	} else {
		return nil
	}
	reason := reworded(err, violation, violation.Reason)
	return &refusal{rule: violation.Rule(), reason: strings.ReplaceAll(reason, "\n", "; ")}
}

// RefusedTogether returns a headline and a line for each of several things that one rule refuses.
func RefusedTogether(group []Message) (headline string, lines []string, ok bool) {
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
		headline = fmt.Sprintf("the policy does not allow %s (%s)", view.CountBoth(modules, "module", len(group)-modules, "provider"), rule)
	}
	for _, m := range group {
		line := m.Name()
		if !same {
			line += ": " + m.refusal.reason
		}
		lines = append(lines, line)
	}
	return headline, lines, true
}
