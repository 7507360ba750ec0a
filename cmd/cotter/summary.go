package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/sanitize"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/lockfile"
)

// resultLine is the outcome of a run for a module, or for one or several providers.
type resultLine struct {
	verb    string // one of verbs
	subject string // the key of a module, or the address of a provider
	what    string // its source and version, or a description of the change
	details []string
	several int // the number of providers, if the line is about more than one

	// name and release are subject and what for several projects: the source without version, and versions.
	name, release string
	breaking      []string // the changes that break calls
}

// verbs are in the order in which they are counted.
var verbs = []string{"added", "changed", "moved", "updated", "removed", "restored", "installed"}

// outcomesOf returns the outcomes for all changed modules, by path, and then providers. dir is the project, or
// "" if there is only one.
func (o *output) outcomesOf(dir string, result *installer.Result, seen *tally) []resultLine {
	keys, modules := make(map[string]bool), make(map[string]installer.Module)
	byKey := func(changes []installer.LockChange) map[string]installer.LockChange {
		found := make(map[string]installer.LockChange)
		for _, change := range changes {
			keys[change.Path.String()], found[change.Path.String()] = true, change
		}
		return found
	}
	changes, updates := byKey(result.LockChanges), byKey(result.Updates)
	for _, m := range result.Modules {
		keys[m.Path.String()], modules[m.Path.String()] = true, m
	}
	var list []resultLine
	for _, key := range slices.SortedFunc(maps.Keys(keys), graph.CompareKeys) {
		change, changed := changes[key]
		update, updated := updates[key]
		placed, isNew := seen.modules[key]
		switch {
		case changed:
			list = append(list, o.entryOutcome(dir, change, modules[key]))
		case updated && update.New.Key == "":
			list = append(list, entryLine("removed", key, update.Old, records.ReleaseText(update.Old)))
		case updated:
			list = append(list, entryLine("updated", key, update.New, records.UpdateText(update)))
		case seen.restored[key]:
			list = append(list, moduleOutcome("restored", modules[key]))
		case isNew && !placed.Replaced: // an update can replace a module by the same content
			list = append(list, moduleOutcome("installed", modules[key]))
		}
	}
	return append(list, o.providerOutcomes(dir, result, seen)...)
}

func (o *output) entryOutcome(dir string, change installer.LockChange, m installer.Module) resultLine {
	switch {
	case records.VersionOrPackage(change.New) == "" || m.Source == nil:
		return entryLine("removed", change.Path.String(), change.Old, records.ReleaseText(change.Old))
	case records.VersionOrPackage(change.Old) == "":
		return moduleOutcome("added", m)
	}
	change.Interface = o.ShownInterface(dir, change.Interface)
	line := entryLine("changed", change.Path.String(), change.New, records.ChangeText(change))
	line.details = consequences(change)
	line.what += becauseOf(o.shownExclusions(dir, records.ExclusionsOf(change)), records.RefOrPackage(change.Old))
	line.breaking = interfaceLines(breaking(change.Interface))
	return line
}

func entryLine(verb, key string, entry lockfile.Module, text string) resultLine {
	return resultLine{verb: verb, subject: key, what: text, name: records.EntryName(entry), release: text}
}

func moduleOutcome(verb string, m installer.Module) resultLine {
	entry := lockfile.Module{Source: m.Source, Version: m.Version, Package: m.Package}
	return resultLine{verb: verb, subject: m.Path.String(), what: describe(m), name: records.EntryName(entry), release: records.ReleaseText(entry)}
}

func describe(m installer.Module) string {
	text := strings.TrimSpace(addrs.Redact(m.Source.ForDisplay()) + " " + m.Version.String())
	if m.Replaces != nil {
		text += " in place of " + m.Replaces.String()
	}
	return text
}

func (o *output) providerOutcomes(dir string, result *installer.Result, seen *tally) []resultLine {
	moved, changes := splitMoved(result.ProviderChanges)
	var list []resultLine
	listed := make(map[addrs.Provider]bool)
	add := func(provider addrs.Provider, verb, release, because string) {
		listed[provider] = true
		name := "provider " + provider.ForDisplay()
		what := release + because + o.signedBy(seen.providers[provider.String()])
		list = append(list, resultLine{verb: verb, subject: name, what: what, name: name, release: release})
	}
	for _, change := range moved {
		listed[change.Provider] = true
	}
	for _, change := range changes {
		switch {
		case change.Old.IsZero():
			add(change.Provider, "added", change.New.String(), "")
		case change.New.IsZero():
			add(change.Provider, "removed", change.Old.String(), "")
		default:
			add(change.Provider, "changed", providerChangeText(change), becauseOf(o.shownExclusions(dir, records.ProviderExclusions(change)), change.Old.String()))
		}
	}
	for _, update := range result.ProviderUpdates {
		switch {
		case seen.providers[update.Provider.String()].Replaced: // it is restored
		case update.New.IsZero():
			add(update.Provider, "removed", update.Old.String(), "")
		case update.New == update.Old:
			add(update.Provider, "updated", update.New.String()+", another package of this version", "")
		default:
			add(update.Provider, "updated", update.Old.String()+" -> "+update.New.String(), "")
		}
	}
	for _, p := range result.Providers {
		isRefetched := slices.ContainsFunc(result.Refetched, func(r installer.Refetched) bool { return r.Provider == p.Address })
		e, isNew := seen.providers[p.Address.String()]
		_, fetched := seen.archives["provider "+p.Address.ForDisplay()+" "+p.Version.String()]
		switch {
		case listed[p.Address]:
		case isRefetched: // nothing has changed, and refetched says why it was downloaded
		case e.Replaced || fetched && !isNew: // it is installed as links to the cache, which was damaged
			add(p.Address, "restored", p.Version.String(), "")
		case isNew:
			add(p.Address, "installed", p.Version.String(), "")
		}
	}
	slices.SortStableFunc(list, func(a, b resultLine) int { return strings.Compare(a.subject, b.subject) })
	if len(moved) > 0 {
		line := resultLine{verb: "moved", subject: view.Count(len(moved), "provider"), what: moveText(moved[0]), several: len(moved), name: "providers", release: moveText(moved[0])}
		list = append([]resultLine{line}, list...)
	}
	return list
}

// maxAligned limits the width of aligned subjects, so that a long one does not move all other columns.
const maxAligned = 40

func (o *output) printOutcomes(list []resultLine, indent string) {
	verb, subject, longest := 0, 0, maxAligned
	if o.columns > 0 {
		longest = min(longest, o.columns/3) // leave room for the addresses
	}
	for _, one := range list {
		verb = max(verb, len(one.verb))
		if n := utf8.RuneCountInString(one.subject); n <= longest {
			subject = max(subject, n)
		}
	}
	for _, one := range list {
		text := fmt.Sprintf("%-*s  %s", verb, one.verb, view.Escapef("%s  %s", fmt.Sprintf("%-*s", subject, one.subject), one.what))
		text = strings.TrimPrefix(view.Folded(strings.TrimRight(text, " "), o.columns-len(indent), indent+"    "), one.verb)
		fmt.Fprint(o.stdout, indent, paintFor(o, one.verb, one.verb), text, "\n")
		for _, line := range one.details {
			o.printf("%s    %s\n", indent, view.Lines(view.Folded(sanitize.Escape(line), o.columns-len(indent)-4, indent+"      ")))
		}
	}
}

func paintFor(o *output, verb, text string) string {
	switch verb {
	case "added", "installed":
		return o.paint(green, text)
	case "removed":
		return o.paint(red, text)
	}
	return o.paint(yellow, text)
}

// counted returns a text such as "3 added, 1 changed".
func counted(list []resultLine) string {
	var parts []string
	for _, verb := range verbs {
		n := 0
		for _, one := range list {
			if one.verb == verb {
				n += max(one.several, 1)
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verb))
		}
	}
	return strings.Join(parts, ", ")
}

// total returns a text such as "12 modules and 3 providers".
func total(result *installer.Result) string {
	return view.CountBoth(len(result.Modules), "module", len(result.Providers), "provider")
}

func (o *output) installed(done string, result *installer.Result, seen *tally) error {
	if o.json {
		o.result(records.ResultOf(done, result))
		return nil
	}
	if o.quiet {
		return nil
	}
	if len(result.Modules)+len(result.Providers)+len(result.LockChanges)+len(result.ProviderChanges) == 0 {
		o.printf("The configuration calls no modules and requires no providers.\n")
		return nil
	}
	list := o.outcomesOf("", result, seen)
	if len(list) == 0 && len(seen.locks) == 0 {
		o.printf("%s up to date in %s\n", total(result), o.elapsed())
		o.refetched(result)
		o.unsigned("", fromProject(result.Providers))
		return nil
	}
	if len(list) == 0 {
		done = "up to date" // the modules and providers are; the change of the lock is printed below
	}
	o.printOutcomes(list, "")
	text := total(result)
	if result.DialectMatters {
		text += " for " + result.Dialect.String()
	}
	text += " " + done + " in " + o.elapsed()
	if summary := counted(list); summary != "" && summary != fmt.Sprintf("%d installed", len(list)) {
		text += ": " + summary
	}
	if fetched := seen.fetchedText(); fetched != "" {
		text += "; " + fetched
	}
	o.printf("%s.\n", text)
	o.inUse("Locked what was in use", result)
	o.refetched(result)
	o.unsigned("", fromProject(result.Providers))
	o.writtenLocks(seen.locks)
	o.earlierLock("", result)
	return nil
}

// writtenLocks asks to commit the locks that a run has written, of modules and of providers if there are two.
func (o *output) writtenLocks(locks []event.LockFileWritten) {
	for _, lock := range locks {
		name, of := o.ShownFile("", lock.File), ""
		switch {
		case len(locks) == 1:
		case filepath.Base(lock.File) == lockfile.Name:
			of = " of the providers"
		default:
			of = " of the modules"
		}
		switch {
		case lock.Created:
			o.printf("\nCotter has created a lock file %s to record the versions%s.\n", name, of)
		case lock.IgnoredBy != "":
			o.printf("\nCotter has changed %s%s.\n", name, of)
		default:
			o.printf("\nCotter has changed %s%s; commit it with your configuration.\n", name, of)
		}
		switch {
		case lock.IgnoredBy != "":
			o.printf("Git ignores it: %s. To commit it, remove this line, or run `git add -f %s`.\n",
				o.At("", textform.Path(lock.IgnoredBy), lock.IgnoredLine), view.ShellWord(name))
		case lock.Created:
			o.printf("Include this file in your version control repository.\n")
		}
	}
}

func (o *output) planned(result *installer.Result, seen *tally) error {
	if o.json {
		o.result(records.ResultOf("planned", result))
		return nil
	}
	if o.quiet {
		return nil
	}
	ofLock, others := *result, installer.Result{Modules: result.Modules, Updates: result.Updates, ProviderUpdates: result.ProviderUpdates}
	ofLock.Updates, ofLock.ProviderUpdates = nil, nil
	list := o.outcomesOf("", &ofLock, newTally())
	switch {
	case len(list)+len(result.Restored) == 0:
		o.printf("%s would not change.\n", result.LockFile)
	case len(list) == 0:
		o.printf("%s would get back %s.\n", result.LockFile, entries(len(result.Restored), "module"))
	default:
		o.printf("%s would change:\n", result.LockFile)
		o.printOutcomes(list, "")
	}
	if list := o.outcomesOf("", &others, newTally()); len(list) > 0 {
		o.printf("Installed packages of the former lock would be replaced:\n")
		o.printOutcomes(list, "")
	}
	text := fmt.Sprintf("%s examined in %s", total(result), o.elapsed())
	if fetched := seen.fetchedText(); fetched != "" {
		text += "; " + fetched + " into the cache"
	}
	o.printf("%s. This was a dry run: the project was not changed.\n", text)
	o.inUse("Would lock what is in use", result)
	o.unsigned("", fromProject(result.Providers))
	o.earlierLock("", result)
	return nil
}

// inUse prints how many entries were added for what was in use already, and how many have newer versions.
func (o *output) inUse(what string, result *installer.Result) {
	inUse, newer := 0, 0
	for _, change := range result.LockChanges {
		if !change.Selection.IsInUse() {
			continue
		}
		inUse++
		if !change.Newer.IsZero() {
			newer++
		}
	}
	text := fmt.Sprintf("%s: %d", what, inUse)
	if newer > 0 {
		text += fmt.Sprintf("; newer versions: %d (`cotter outdated`)", newer)
	}
	if inUse > 0 {
		o.printf("%s.\n", text)
	}
}

// earlierLock says where the earlier version of a missing lock is. Versions were selected anew, as with stock
// tools.
func (o *output) earlierLock(project string, result *installer.Result) {
	if result.EarlierLock == "" {
		return
	}
	subject := ""
	if project != "" {
		subject = project + ": "
	}
	o.printf("\n%s%s did not exist, so its versions were selected anew. %s has an earlier one.\n%s\n", subject, filepath.Base(result.LockFile),
		strings.ToUpper(result.EarlierLock[:1])+result.EarlierLock[1:], o.RemedyIn(project, advice.UseEarlierLock))
}

func (o *output) lockedOnly(result *installer.Result) {
	if !o.json && !o.quiet && len(result.LockChanges) > 0 {
		o.printf("\nOnly the lock was written. `cotter install` installs the locked packages.\n")
	}
}

// done is the type of the last value that --json prints.
func done(req request) string {
	switch {
	case req.DryRun:
		return "planned"
	case req.LockOnly:
		return "locked"
	}
	return "installed"
}

// refetched says which installed packages were downloaded only to confirm them, and why. Each counts once.
func (o *output) refetched(result *installer.Result) {
	var modules, providers int
	var bytes int64
	seen := make(map[string]bool)
	for _, r := range result.Refetched {
		if seen[r.Package] {
			continue
		}
		seen[r.Package] = true
		bytes += r.Bytes
		if r.Provider == (addrs.Provider{}) {
			modules++
		} else {
			providers++
		}
	}
	if modules+providers > 0 {
		o.notef("Downloaded %s again (%s): %s, another user or a run with another HOME had installed them, which confirms nothing here. If every run has a new HOME, keep the cache and set COTTER_STATE_KEY.\n",
			view.CountBoth(modules, "module package", providers, "provider"), view.Size(bytes), result.Dialect)
	}
}
