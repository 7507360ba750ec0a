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
		out.outdatedProjects(found, incomplete)
	}
	if failed == nil && newer && cmd.Bool("exit-code") {
		return exitOnly{exitFound}
	}
	return failed
}

// outdated returns what has newer versions in a project, or with --all everything. The list is never nil.
func outdated(ctx context.Context, cmd *invocation, in *installer.Installer, req request) (*outdatedList, error) {
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return &outdatedList{}, noConfigurationError{dir}
	}
	of, err := scope(cmd)
	if err != nil {
		return &outdatedList{}, err
	}
	found, failed := in.Outdated(ctx, req.Project, installer.OriginOptions{Scope: of})
	if found == nil {
		found = &installer.Outdated{}
	}
	list := &outdatedList{Outdated: *found, examined: len(found.Modules) + len(found.Providers), providers: len(found.Providers)}
	modules := slices.DeleteFunc(slices.Clone(list.Modules), func(m installer.OutdatedModule) bool { return m.Current == m.Latest && m.Current == m.Allowed })
	providers := slices.DeleteFunc(slices.Clone(list.Providers), func(p installer.OutdatedProvider) bool { return p.Current == p.Latest && p.Current == p.Allowed })
	if list.newer = len(modules)+len(providers) > 0; !cmd.Bool("all") {
		list.Modules, list.Providers = modules, providers
	}
	return list, failed
}

// outdatedList is what to list, how much was examined, and whether there is something newer.
type outdatedList struct {
	installer.Outdated
	examined, providers int
	newer               bool
}

// printOutdated says that all is up to date only if the list is complete.
func (o *output) printOutdated(list *outdatedList, complete bool) error {
	switch {
	case o.json:
		return o.writeJSON(outdatedOf(list.Modules, list.Providers))
	case len(list.Modules)+len(list.Providers) > 0:
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
	t := table{head: []string{"KEY", "SOURCE", "CURRENT", "ALLOWED", "LATEST", "CALL"}, title: 2}
	var pins []installer.Pin
	for _, m := range list.Modules {
		t.add(m.Path.String(), addrs.Redact(m.Source.ForDisplay()), dash(m.Current.String()), dash(m.Allowed.String()), dash(m.Latest.String()), o.place("", m.Call.Range))
		if m.Pin != nil {
			pins = append(pins, *m.Pin)
		}
	}
	for _, p := range list.Providers {
		t.add("-", p.Provider.ForDisplay(), dash(p.Current.String()), dash(p.Allowed.String()), dash(p.Latest.String()), o.firstUse("", p.RequiredBy))
	}
	t.print(o)
	o.proposals(pins)
}

// outdatedProjects prints one table for projects by directory, with a line for the same versions. failed is the
// number of projects about which not all is known.
func (o *output) outdatedProjects(found map[string]*outdatedList, failed int) {
	type release struct{ source, current, allowed, latest string }
	uses := make(usesBy[release])
	total, all, projects := 0, outdatedList{}, 0
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		list := found[dir]
		all.examined, all.providers = all.examined+list.examined, all.providers+list.providers
		if n := len(list.Modules) + len(list.Providers); n > 0 {
			total, projects = total+n, projects+1
		}
		for _, m := range list.Modules {
			uses.add(release{sourceName(m.Source.ForDisplay()), m.Current.String(), m.Allowed.String(), m.Latest.String()}, dir, o.place(dir, m.Call.Range))
		}
		for _, p := range list.Providers {
			uses.add(release{"provider " + p.Provider.ForDisplay(), p.Current.String(), p.Allowed.String(), p.Latest.String()}, dir, o.firstUse(dir, p.RequiredBy))
		}
	}
	if total == 0 {
		if failed == 0 && len(found) > 0 {
			o.notef("%s: %s\n", count(len(found), "project"), all.nothingNewer())
		}
		return
	}
	t := table{head: []string{"SOURCE", "CURRENT", "ALLOWED", "LATEST", "WHERE"}, title: 1}
	for _, r := range uses.mostFirst(func(a, b release) int {
		return cmp.Or(strings.Compare(a.source, b.source), strings.Compare(a.current, b.current), strings.Compare(a.latest, b.latest))
	}) {
		t.add(r.source, dash(r.current), dash(r.allowed), dash(r.latest), uses[r].String())
	}
	t.print(o)
	pins := make(map[string][]installer.Pin)
	for dir, list := range found {
		for _, m := range list.Modules {
			if m.Pin != nil {
				pins[dir] = append(pins[dir], *m.Pin)
			}
		}
	}
	text := fmt.Sprintf("Newer versions in %d of %s", projects, count(len(found), "project"))
	if failed > 0 {
		text += fmt.Sprintf("; %d failed", failed)
	}
	o.notef("%s. --verbose lists each call.\n", text)
	o.proposeForProjects(pins)
}

// usesBy are uses in several projects of what is listed once.
type usesBy[K comparable] map[K]*releaseUses

func (u usesBy[K]) add(key K, dir, place string) {
	if u[key] == nil {
		u[key] = &releaseUses{}
	}
	u[key].add(dir, place)
}

// mostFirst sorts keys by their numbers of projects, and then by compare.
func (u usesBy[K]) mostFirst(compare func(a, b K) int) []K {
	return slices.SortedFunc(maps.Keys(u), func(a, b K) int {
		return cmp.Or(cmp.Compare(len(u[b].dirs), len(u[a].dirs)), compare(a, b))
	})
}

type releaseUses struct {
	calls int
	place string // of the first
	dirs  []string
}

func (u *releaseUses) add(dir, place string) {
	if u.calls++; u.calls == 1 {
		u.place = place
	}
	if !slices.Contains(u.dirs, dir) {
		u.dirs = append(u.dirs, dir)
	}
}

// String returns the place of a single call, and otherwise numbers.
func (u *releaseUses) String() string {
	switch {
	case u.calls == 1:
		return u.place
	case len(u.dirs) == 1:
		return fmt.Sprintf("%d calls in %s", u.calls, u.dirs[0])
	case len(u.dirs) < u.calls:
		return fmt.Sprintf("%d calls in %d projects", u.calls, len(u.dirs))
	}
	return fmt.Sprintf("%d projects", len(u.dirs))
}

func dash(text string) string { return cmp.Or(text, "-") }

func (o *output) firstUse(dir string, uses []installer.ProviderRequirement) string {
	if len(uses) == 0 {
		return "-"
	}
	return o.place(dir, uses[0].Range)
}

// jsonOutdated is a call, or a provider, in the output of outdated.
type jsonOutdated struct {
	Key      string `json:"key,omitempty"`
	Source   string `json:"source,omitempty"`
	Provider string `json:"provider,omitempty"`
	Current  string `json:"current,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Latest   string `json:"latest,omitempty"`
	// Tag is the tag in the source address, if it has one.
	Tag string `json:"tag,omitempty"`
	// LatestTag is the newest tag.
	LatestTag string `json:"latest_tag,omitempty"`
	jsonPlace
}

func outdatedOf(modules []installer.OutdatedModule, providers []installer.OutdatedProvider) record {
	calls := []jsonOutdated{}
	for _, m := range modules {
		call := jsonOutdated{
			Key: m.Path.String(), Source: addrs.Redact(m.Source.String()), Current: m.Current.String(), Allowed: m.Allowed.String(), Latest: m.Latest.String(),
			jsonPlace: placeOf(m.Call.Range),
		}
		if m.Pin != nil {
			call.Tag, call.LatestTag = m.Pin.Value, m.Pin.LatestValue
		}
		calls = append(calls, call)
	}
	for _, p := range providers {
		call := jsonOutdated{Provider: p.Provider.String(), Current: p.Current.String(), Allowed: p.Allowed.String(), Latest: p.Latest.String()}
		if len(p.RequiredBy) > 0 {
			call.jsonPlace = placeOf(p.RequiredBy[0].Range)
		}
		calls = append(calls, call)
	}
	return outdatedRecord{calls}
}
