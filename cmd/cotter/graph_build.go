package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/config"
	"github.com/cotterpin/cotter/internal/graph"
	"github.com/cotterpin/cotter/lockfile"
)

// graphBuilder is a graph under construction.
type graphBuilder struct {
	graph.Graph
	// allProviders is true if all providers are shown, and not only those that differ
	// between two locks.
	allProviders bool

	index map[string]int // the indexes of the modules by their keys
}

// add adds a module, unless the graph already has a module with its key.
func (b *graphBuilder) add(m graph.Module) {
	if b.module(m.Key) != nil {
		return
	}
	if b.index == nil {
		b.index = map[string]int{}
	}
	b.index[m.Key] = len(b.Modules)
	b.Modules = append(b.Modules, m)
}

// module returns the module with a key, or nil if the graph does not have it.
func (b *graphBuilder) module(key string) *graph.Module {
	if i, ok := b.index[key]; ok {
		return &b.Modules[i]
	}
	return nil
}

// addModules adds the modules of a tree, and marks those that are missing in it.
func (b *graphBuilder) addModules(result *cotter.Result) {
	for _, m := range result.Modules {
		b.add(graph.Module{
			Key: m.Path.String(), Source: addrs.Redact(m.Source.ForDisplay()), Version: m.Version.String(), Constraint: constraintOf(m.Call), Package: packageOf(m.Package),
			File: m.Call.Range.Filename, Line: m.Call.Range.Start.Line,
		})
	}
	for _, u := range result.Unresolved {
		key := u.Path.String()
		source := u.Call.Source
		if u.Source != nil {
			source = u.Source.ForDisplay()
		}
		b.add(graph.Module{Key: key, Source: addrs.Redact(source), Constraint: constraintOf(u.Call), File: u.Call.Range.Filename, Line: u.Call.Range.Start.Line})
		b.mark(key, graph.Missing, reasonOf(u.Err))
	}
}

// constraintOf returns the version argument of a call; "" if it has none.
func constraintOf(call config.Call) string {
	if call.Version == nil {
		return ""
	}
	return *call.Version
}

// reasonOf returns the first line of an error about a call, without the call.
func reasonOf(err error) string {
	var module *cotter.ModuleError
	if errors.As(err, &module) {
		err = module.Err
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimPrefix(text, "module ") // of "module not installed"
}

// addLocked completes modules that have no version or package with their lock entries. It
// also adds the locked modules below modules that are not installed.
func (b *graphBuilder) addLocked(lock *lockfile.File) {
	missing := map[string]bool{}
	longest := 0 // the length of the longest key in missing
	for _, m := range b.Modules {
		if isMarked(&m, graph.Missing) {
			missing[m.Key], longest = true, max(longest, len(m.Key))
		}
	}
	for _, entry := range lock.Modules() {
		if m := b.module(entry.Key); m != nil {
			m.Version, m.Package = cmp.Or(m.Version, entry.Version), cmp.Or(m.Package, packageOf(entry.Package))
			m.Constraint = cmp.Or(m.Constraint, entry.Constraints)
			continue
		}
		if isBelow(entry.Key, missing, longest) {
			b.add(lockedNode(entry))
		}
	}
}

// isBelow reports whether a key is below a key in set. longest is the length of the longest
// key in set.
func isBelow(key string, set map[string]bool, longest int) bool {
	for i, c := range key[:min(len(key), longest+1)] {
		if c == '.' && set[key[:i]] {
			return true
		}
	}
	return false
}

func isMarked(m *graph.Module, kind graph.Kind) bool {
	return slices.ContainsFunc(m.Marks, func(had graph.Mark) bool { return had.Kind == kind })
}

// provider returns the provider with a name, or nil if the graph does not have it.
func (b *graphBuilder) provider(name string) *graph.Provider {
	for i := range b.Providers {
		if b.Providers[i].Name == name {
			return &b.Providers[i]
		}
	}
	return nil
}

// mark marks the module with a key. It does nothing if the graph does not have the module,
// or if the module already has a mark of the same kind.
func (b *graphBuilder) mark(key string, kind graph.Kind, text string) {
	m := b.module(key)
	if m == nil || isMarked(m, kind) {
		return
	}
	m.Marks = append(m.Marks, graph.Mark{Kind: kind, Text: text})
}

// addReport marks the modules that differ from the lock.
func (b *graphBuilder) addReport(report *cotter.Report) {
	for _, found := range report.Packages {
		key := found.Path.String()
		if b.module(key) == nil { // the lock has it, but the configuration does not
			continue
		}
		switch {
		case found.Err != nil && found.Changes.Empty():
			b.mark(key, graph.Problem, reasonOf(found.Err))
		case found.Status == cotter.StatusChanged:
			b.mark(key, graph.Changed, changesText(found))
		case found.Status == cotter.StatusMissing:
			b.mark(key, graph.Missing, "not installed")
		case found.Status == cotter.StatusFormer:
			b.mark(key, graph.Changed, statusText(found))
		case found.Status == cotter.StatusUnlocked:
			b.mark(key, graph.Unlocked, "")
		case !matches(found):
			b.mark(key, graph.Problem, notCompared)
		}
	}
	b.markProviders(report)
	problems := slices.Concat(report.Refused, report.Stale)
	if slices.ContainsFunc(report.Packages, func(found cotter.PackageReport) bool { return found.Status != cotter.StatusMissing }) {
		problems = append(problems, report.Misplaced...) // skipped if nothing is installed: every module would be misplaced
	}
	for _, err := range problems {
		var module *cotter.ModuleError
		if errors.As(err, &module) {
			b.mark(module.Path.String(), graph.Problem, reasonOf(module))
		}
	}
}

// maxChanges is the maximum number of files that a mark names.
const maxChanges = 3

// changesText names the files that differ from the lock, such as "main.tf, new.tf (added)".
func changesText(found cotter.PackageReport) string {
	var files []string
	for _, group := range changedFiles(found.Changes) {
		for _, file := range group.files {
			if group.label != "changed" {
				file += " (" + group.label + ")"
			}
			files = append(files, file)
		}
	}
	if len(files) > maxChanges {
		files = append(files[:maxChanges], fmt.Sprintf("%d more", len(files)-maxChanges))
	}
	return cmp.Or(strings.Join(files, ", "), "other bytes than the lock has")
}

// addProviders adds the providers of a project.
func (b *graphBuilder) addProviders(list []cotter.Provider) {
	for _, provider := range list {
		shown := graph.Provider{Name: provider.Address.ForDisplay(), Version: provider.Version.String(), Constraints: provider.Constraints}
		for _, use := range provider.RequiredBy {
			if key := use.Path.String(); !slices.Contains(shown.RequiredBy, key) {
				shown.RequiredBy = append(shown.RequiredBy, key)
			}
			shown.Requirements = append(shown.Requirements, graph.Requirement{
				Key: use.Path.String(), Constraint: use.Constraint, By: use.By, File: use.Range.Filename, Line: use.Range.Start.Line,
			})
		}
		b.Providers = append(b.Providers, shown)
	}
}

// addLockedProviders adds the providers of a lock that the graph does not have.
func (b *graphBuilder) addLockedProviders(lock *lockfile.File) {
	for _, l := range lock.Providers() {
		if name := l.Address.ForDisplay(); b.provider(name) == nil {
			b.Providers = append(b.Providers, graph.Provider{Name: name, Version: l.Version, Constraints: l.Constraints})
		}
	}
}

// markProviders marks the providers that differ from the lock.
func (b *graphBuilder) markProviders(report *cotter.Report) {
	for _, found := range report.Providers {
		shown := b.provider(found.Provider.ForDisplay())
		switch {
		case shown == nil:
		case found.Status == cotter.StatusChanged:
			shown.Marks = append(shown.Marks, graph.Mark{Kind: graph.Changed, Text: "other bytes than the lock has"})
		case found.Status == cotter.StatusMissing:
			shown.Marks = append(shown.Marks, graph.Mark{Kind: graph.Missing, Text: "not installed"})
		case found.Status == cotter.StatusFormer:
			shown.Marks = append(shown.Marks, graph.Mark{Kind: graph.Changed, Text: providerStatusText(found)})
		case !providerMatches(found):
			shown.Marks = append(shown.Marks, graph.Mark{Kind: graph.Problem, Text: providerStatusText(found)})
		}
	}
}

// newerText describes the newer versions of a module or provider. It returns "" if the
// current version is the latest.
func newerText(current, allowed, latest string) string {
	switch {
	case latest == "" || latest == current:
		return ""
	case allowed == latest || allowed == current || allowed == "":
		return latest
	}
	return latest + ", allowed " + allowed
}

func (b *graphBuilder) addOutdated(list []cotter.OutdatedModule) {
	for _, o := range list {
		if text := newerText(o.Current.String(), o.Allowed.String(), o.Latest.String()); text != "" {
			b.mark(o.Path.String(), graph.Outdated, text)
		}
	}
}

func (b *graphBuilder) addOutdatedProviders(list []cotter.OutdatedProvider) {
	for _, o := range list {
		shown := b.provider(o.Provider.ForDisplay())
		if text := newerText(o.Current.String(), o.Allowed.String(), o.Latest.String()); text != "" && shown != nil {
			shown.Marks = append(shown.Marks, graph.Mark{Kind: graph.Outdated, Text: text})
		}
	}
}

// addChanges marks the differences between two locks, and adds the modules and providers
// that only the old lock has.
func (b *graphBuilder) addChanges(modules []lockfile.ModuleChange, providers []lockfile.ProviderChange) {
	for _, from := range modules {
		b.add(lockedNode(*cmp.Or(from.New, from.Old)))
		kind, text := changeMark(moduleChange(from))
		b.mark(from.Key, kind, text)
	}
	for _, from := range providers {
		name := from.Address.ForDisplay()
		if b.provider(name) == nil {
			b.Providers = append(b.Providers, graph.Provider{Name: name, Version: cmp.Or(from.New, from.Old).Version})
		}
		shown := b.provider(name)
		kind, text := changeMark(providerChange(from))
		shown.Marks = append(shown.Marks, graph.Mark{Kind: kind, Text: text})
	}
}

// changeMark returns the kind and the text of a mark for a change between two locks.
func changeMark(c entryChange) (kind graph.Kind, text string) {
	switch c.Change {
	case changeAdded:
		return graph.Added, ""
	case changeRemoved:
		return graph.Removed, ""
	case changeVersion:
		return graph.Updated, addrs.Redact(c.shownChange)
	case changeContent:
		return graph.Content, "under the same name"
	}
	return graph.Relocked, strings.Join(c.Details, "; ")
}
