package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
)

// verifyRemote compares the lock with the origins. report is the result without them. The error is a
// reportError if not all origins have the locked content.
func verifyRemote(ctx context.Context, in *installer.Installer, out *output, req request, report *installer.Report) (asked originCount, err error) {
	req.Scope = installer.ScopeAll
	list, err := in.VerifyRemote(ctx, req.Project, installer.OriginOptions{Scope: req.Scope})
	if err != nil {
		return asked, err
	}
	origins, providers := list.Modules, list.Providers
	if out.json {
		found := out.jsonReport(report)
		found.Origins, found.ProviderOrigins = records.Origins(origins), records.OriginProviders(providers)
		out.result(found)
	} else {
		asked = out.origins(origins, providers)
	}
	var failed advice.ReportError
	for _, o := range origins {
		switch {
		case o.Moved():
			todo := advice.AcceptContent
			if follows(o) {
				todo = advice.Relock
			}
			failed.Err = errMoved
			failed.Remedies = append(failed.Remedies, advice.About(o.Path.String(), todo)...)
		case o.Err != nil:
			failed.Err = cmp.Or(failed.Err, errUnknown)
			failed.Causes = append(failed.Causes, o.Err)
		}
	}
	for _, o := range providers {
		switch {
		case o.Moved():
			failed.Err = errMoved
			failed.Remedies = append(failed.Remedies, advice.About(o.Provider.ForDisplay(), advice.LockProvider)...)
		case o.Err != nil:
			failed.Err = cmp.Or(failed.Err, errUnknown)
			failed.Causes = append(failed.Causes, o.Err)
		}
	}
	switch {
	case failed.Err != nil:
		return asked, failed
	case !list.OK():
		return asked, advice.ReportError{Err: errUnknown}
	}
	return asked, nil
}

// follows reports whether the call follows a name that is expected to move, such as a branch, so that an
// update needs no permission.
func follows(o installer.ModuleOrigin) bool {
	if o.Compared != installer.ComparedRevision {
		return false
	}
	switch o.Ref.Kind {
	case getmodules.ReferenceBranch, getmodules.ReferenceHead, getmodules.ReferenceOther:
		return true
	}
	return false
}

func moved(o installer.ModuleOrigin) string {
	now := view.Short(o.Locked) + " -> " + view.Short(o.Now)
	if records.ComparedName(o) != "" {
		return fmt.Sprintf("%s: %s moved %s", o.Package, records.ComparedName(o), now)
	}
	return fmt.Sprintf("%s: content changed %s", o.Package, now)
}

// note describes a locked commit that no branch or tag is known to contain, or returns "".
func note(o installer.ModuleOrigin) string {
	unreachable, ok := errors.AsType[*installer.UnreachableError](o.History)
	switch {
	case o.History == nil:
		return ""
	case !ok:
		return o.Package + ": " + o.History.Error()
	case !unreachable.Unknown:
		return fmt.Sprintf("no branch or tag of %s contains the locked commit %s", o.Package, view.Short(unreachable.Commit))
	}
	text := fmt.Sprintf("whether a branch or tag of %s contains the locked commit %s is not known", o.Package, view.Short(unreachable.Commit))
	if unreachable.Err != nil {
		text += ": " + unreachable.Err.Error()
	}
	return text
}

// origins prints what has moved once, with the calls that use it, then notes, and providers with hashes that
// their registries do not confirm.
func (o *output) origins(origins []installer.ModuleOrigin, providers []installer.ProviderOrigin) originCount {
	var moves, notes []usedText
	var failed []advice.Message
	n := originCount{all: len(origins) + len(providers)}
	for _, origin := range origins {
		switch {
		case origin.Err != nil:
			n.failed++
			failed = append(failed, advice.Messages(origin.Err)...)
		case origin.Moved():
			moves = append(moves, usedText{moved(origin), o.usedBy(origin)})
		case origin.OK():
			n.same++
		}
		if note := note(origin); note != "" {
			notes = append(notes, usedText{"note: " + note, o.usedBy(origin)})
		}
		switch {
		case origin.Fetched:
			n.fetched++
		case origin.OK():
			n.before++
		}
	}
	o.printUsed(moves)
	o.printUsed(notes)
	for _, p := range providers {
		switch {
		case p.Err != nil:
			n.failed++
			failed = append(failed, advice.Messages(p.Err)...)
		case p.Moved():
			o.printf("- provider %s %s: %s\n", p.Provider.ForDisplay(), p.Version, originProviderText(p))
		case p.OK():
			n.same++
		}
	}
	for _, group := range advice.SameText(o.Explain(failed)) {
		if len(group) == 1 {
			o.printf("- %s\n", group[0].Title())
		} else {
			o.printf("- %s: %s\n", advice.Together(group), strings.Join(lists.Map(group, advice.Message.Name), ", "))
		}
	}
	if n.all > 0 && (o.Project == "" || o.verbose) { // otherwise the sum of all projects is printed
		o.notef("%s\n", n)
	}
	return n
}

// originCount counts all origins, those with the locked content, and those that were not compared; of the modules,
// those that were fetched again, and those that an earlier run has confirmed.
type originCount struct{ all, same, failed, fetched, before int }

func (n *originCount) add(more originCount) {
	n.all += more.all
	n.same += more.same
	n.failed += more.failed
	n.fetched += more.fetched
	n.before += more.before
}

func (n originCount) String() string {
	if n.failed >= n.all {
		return fmt.Sprintf("None of %s could be compared with the lock.", view.Count(n.all, "origin"))
	}
	have := "have"
	if n.all == 1 {
		have = "has"
	}
	text := fmt.Sprintf("%d of %s still %s the locked content", n.same, view.Count(n.all, "origin"), have)
	if n.failed > 0 {
		text += fmt.Sprintf("; %d could not be compared", n.failed)
	}
	if n.fetched > 0 {
		text += fmt.Sprintf("; %d fetched and compared", n.fetched)
	}
	if n.before > 0 {
		text += fmt.Sprintf("; %d confirmed before", n.before)
	}
	return text + "."
}

func (o *output) usedBy(origin installer.ModuleOrigin) string {
	return fmt.Sprintf("%s (%s)", origin.Path, o.Place("", origin.Call.Range))
}

// usedText is about an origin that several calls can have in common.
type usedText struct{ text, user string }

func (o *output) printUsed(texts []usedText) {
	for _, same := range lists.GroupBy(texts, func(u usedText) string { return u.text }) {
		o.printf("- %s, used by %s\n", same[0].text, strings.Join(lists.Map(same, func(u usedText) string { return u.user }), ", "))
	}
}

func originProviderText(p installer.ProviderOrigin) string {
	what := "the lock has a hash that %s does not confirm: %s"
	if len(p.Unknown) > 1 {
		what = "the lock has hashes that %s does not confirm: %s"
	}
	return fmt.Sprintf(what, sourceOf(p), hashList(p.Unknown))
}

// sourceOf returns who was asked about a provider.
func sourceOf(p installer.ProviderOrigin) string {
	if p.Evidence.Kind == evidence.Mirror {
		return p.Evidence.By
	}
	return "its registry"
}
