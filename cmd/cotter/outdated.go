package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
)

func outdatedCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "outdated [DIR...]",
		Short: "list the module calls and providers that have newer versions",
		Long: "ALLOWED is the newest version that the call's constraint allows, and LATEST the newest\n" +
			"version of all. Source addresses with a tag that is a version, such as \"?ref=v1.2.0\",\n" +
			"are listed as well. With --all, calls that are up to date are listed too. The exit status\n" +
			"is 0 even if something is outdated, and 3 with --exit-code.",
	}, runOutdated, configFlags(severalFlags(
		exitCodeFlag(), toggle("all", "list all calls whose source has versions"),
		onlyFlag("list only `WHAT`: modules or providers"), policyFlag(),
	)...))
}

func runOutdated(ctx context.Context, cmd *invocation, out *output) error {
	var mu sync.Mutex
	incomplete, newer := 0, false
	found := make(map[string]*outdatedList)
	together := severalProjects(cmd) && !out.json && !out.verbose
	failed := withOrigins(ctx, cmd, out, func(ctx context.Context, in *installer.Installer, out *output, req request) error {
		list, failed := outdated(ctx, cmd, in, req)
		mu.Lock()
		found[req.Dir], newer = list, newer || list.newer
		if failed != nil {
			incomplete++
		}
		mu.Unlock()
		if together {
			return failed
		}
		return cmp.Or(out.printOutdated(list, failed == nil), failed)
	})
	if together {
		out.outdatedProjects(found, incomplete, selectedBy(cmd))
	}
	if failed == nil && newer && cmd.Bool("exit-code") {
		return errFound
	}
	return failed
}

// outdated returns what has newer versions in a project, or with --all everything. The list is never nil.
func outdated(ctx context.Context, cmd *invocation, in *installer.Installer, req request) (*outdatedList, error) {
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return &outdatedList{}, advice.NoConfigurationError{Dir: dir}
	}
	of, err := scope(cmd)
	if err != nil {
		return &outdatedList{}, err
	}
	found, failed := in.Outdated(ctx, req.Project, installer.OriginOptions{Scope: of})
	calls := outdatedCalls(records.ValueOf(found))
	list := &outdatedList{calls: calls, examined: len(calls), providers: len(records.ValueOf(found).Providers)}
	newer := slices.DeleteFunc(slices.Clone(calls), func(c outdatedCall) bool {
		isUnknown := c.Latest == "" && c.Allowed == "" // an error says why
		return isUnknown || c.Current == c.Latest && c.Current == c.Allowed
	})
	if list.newer = len(newer) > 0; !cmd.Bool("all") {
		list.calls = newer
	}
	return list, failed
}

// outdatedList is what to list, how much was examined, and whether there is something newer.
type outdatedList struct {
	calls               []outdatedCall
	examined, providers int
	newer               bool
}

// outdatedCall is a call, or a provider.
type outdatedCall struct {
	records.OutdatedCall
	shown, name string // Source as shown for one project, and for several
	at          hcl.Range
	pin         *installer.Pin
}

func outdatedCalls(found installer.Outdated) (calls []outdatedCall) {
	for _, m := range found.Modules {
		shown, at := m.Source.ForDisplay(), m.Call.Range
		call := outdatedCall{records.OutdatedCall{
			Key: m.Path.String(), Source: addrs.Redact(m.Source.String()), Current: m.Current.String(), Allowed: m.Allowed.String(), Latest: m.Latest.String(), Place: records.PlaceOf(at),
		}, addrs.Redact(shown), records.SourceName(shown), at, m.Pin}
		if m.Pin != nil {
			call.Tag, call.LatestTag = m.Pin.Value, m.Pin.LatestValue
		}
		calls = append(calls, call)
	}
	for _, p := range found.Providers {
		shown, at := p.Provider.ForDisplay(), hcl.Range{}
		if len(p.RequiredBy) > 0 {
			at = p.RequiredBy[0].Range
		}
		calls = append(calls, outdatedCall{records.OutdatedCall{
			Provider: p.Provider.String(), Current: p.Current.String(), Allowed: p.Allowed.String(), Latest: p.Latest.String(), Place: records.PlaceOf(at),
		}, shown, "provider " + shown, at, nil})
	}
	return calls
}

func (l outdatedList) pins() (pins []installer.Pin) {
	for _, c := range l.calls {
		if c.pin != nil {
			pins = append(pins, *c.pin)
		}
	}
	return pins
}

// printOutdated says that all is up to date only if the list is complete.
func (o *output) printOutdated(list *outdatedList, complete bool) error {
	switch {
	case o.json:
		o.result(records.Outdated{Outdated: lists.Map(list.calls, func(c outdatedCall) records.OutdatedCall { return c.OutdatedCall })})
	case len(list.calls) > 0:
		o.outdated(list)
	case complete:
		o.conclude(list.nothingNewer())
	}
	return nil
}

func (l outdatedList) nothingNewer() string {
	switch {
	case l.examined == 0:
		return "No module call has versions to compare."
	case l.providers == 0:
		return "All modules are at their latest versions."
	}
	return "All modules and providers are at their latest versions."
}

func (o *output) outdated(list *outdatedList) {
	t := view.Table{Head: []string{"KEY", "SOURCE", "CURRENT", "ALLOWED", "LATEST", "CALL"}, Title: 2}
	for _, c := range list.calls {
		t.Add(view.Dash(c.Key), c.shown, view.Dash(c.Current), view.Dash(c.Allowed), view.Dash(c.Latest), o.Place("", c.at))
	}
	t.Print(o.stdout, o.columns)
	o.proposals(list.pins())
}

// outdatedProjects prints one table for projects by directory, with a line for the same versions. failed is the
// number of projects about which not all is known.
func (o *output) outdatedProjects(found map[string]*outdatedList, failed int, selected string) {
	type release struct{ source, current, allowed, latest string }
	var uses []use[release]
	all, projects := outdatedList{}, 0
	pins := make(map[string][]installer.Pin)
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		list := found[dir]
		all.examined, all.providers = all.examined+list.examined, all.providers+list.providers
		if len(list.calls) > 0 {
			projects++
		}
		for _, c := range list.calls {
			uses = append(uses, use[release]{release{c.name, c.Current, c.Allowed, c.Latest}, dir, o.Place(dir, c.at)})
		}
		pins[dir] = list.pins()
	}
	if projects == 0 {
		if failed == 0 && len(found) > 0 {
			o.notef("%s: %s\n", view.Count(len(found), "project"), all.nothingNewer())
		}
		return
	}
	t := view.Table{Head: []string{"SOURCE", "CURRENT", "ALLOWED", "LATEST", "WHERE"}, Title: 1}
	for _, same := range mostFirst(uses, func(a, b release) int {
		return cmp.Or(strings.Compare(a.source, b.source), strings.Compare(a.current, b.current), strings.Compare(a.latest, b.latest))
	}) {
		r := same[0].of
		t.Add(r.source, view.Dash(r.current), view.Dash(r.allowed), view.Dash(r.latest), whereUsed(same))
	}
	t.Print(o.stdout, o.columns)
	text := fmt.Sprintf("Newer versions in %d of %s", projects, view.Count(len(found), "project"))
	if failed > 0 {
		text += fmt.Sprintf("; %d failed", failed)
	}
	o.notef("%s. --verbose lists each call.\n", text)
	o.proposeForProjects(pins, selected)
}

// use is one of several uses, in the order of projects, of what is listed once.
type use[K comparable] struct {
	of         K
	dir, place string
}

// mostFirst groups uses, sorted by their numbers of projects, and then by compare.
func mostFirst[K comparable](uses []use[K], compare func(a, b K) int) [][]use[K] {
	groups := lists.GroupBy(uses, func(u use[K]) K { return u.of })
	slices.SortFunc(groups, func(a, b []use[K]) int {
		return cmp.Or(cmp.Compare(len(dirsOf(b)), len(dirsOf(a))), compare(a[0].of, b[0].of))
	})
	return groups
}

func dirsOf[K comparable](uses []use[K]) []string {
	return slices.Compact(lists.Map(uses, func(u use[K]) string { return u.dir }))
}

// whereUsed returns the place of a single use, and otherwise numbers.
func whereUsed[K comparable](uses []use[K]) string {
	switch dirs := dirsOf(uses); {
	case len(uses) == 1:
		return uses[0].place
	case len(dirs) == 1:
		return fmt.Sprintf("%d calls in %s", len(uses), dirs[0])
	case len(dirs) < len(uses):
		return fmt.Sprintf("%d calls in %d projects", len(uses), len(dirs))
	default:
		return fmt.Sprintf("%d projects", len(dirs))
	}
}
