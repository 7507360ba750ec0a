package main

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
	"github.com/cotterpin/cotter/lockfile"
)

// changeText describes a change of a lock entry.
func changeText(change cotter.LockChange) string {
	before, after := versionOrPackage(change.Old), versionOrPackage(change.New)
	switch constraints := change.New.Constraints; {
	case before == "":
		return "added " + after
	case after == "":
		return "removed"
	case change.OtherContent != "":
		return change.OtherContent
	case before != after:
		return shortPackages(before, after)
	case change.Old.Constraints != constraints && constraints == "":
		return after + ", now without a constraint"
	case change.Old.Constraints != constraints:
		return fmt.Sprintf("%s, now for the constraint %q", after, constraints)
	}
	return after + ", from another source"
}

// versionOrPackage returns the version of an entry, or its package if it has no version; "" if there
// is no entry.
func versionOrPackage(entry lockfile.Module) string { return cmp.Or(entry.Version, entry.Package) }

// updateText describes the change from a package that the last run installed to the one of the
// lock.
func updateText(update cotter.LockChange) string {
	before, after := releaseName(update.Old), releaseName(update.New)
	oldCommit, newCommit := commitOf(update.Old), commitOf(update.New)
	switch {
	case before == after && oldCommit != "" && newCommit != "" && oldCommit != newCommit:
		return fmt.Sprintf("%s -> %s", oldCommit, newCommit)
	case before == after && oldCommit == newCommit:
		return after + ", from another source"
	case newCommit != "" && newCommit != after:
		return fmt.Sprintf("%s -> %s (%s)", before, after, newCommit)
	}
	return before + " -> " + after
}

// releaseName returns the version of an entry. For an entry without a version, it returns the
// ref of the source if it has one, and otherwise the package.
func releaseName(entry lockfile.Module) string {
	if entry.Version != "" {
		return entry.Version
	}
	if _, query, ok := strings.Cut(entry.Source, "?"); ok {
		if values, err := url.ParseQuery(query); err == nil && values.Get("ref") != "" {
			if ref := values.Get("ref"); short(ref) == ref {
				return ref
			}
		}
	}
	return cmp.Or(commitOf(entry), entry.Package)
}

// commitOf returns the short commit of a package of a git repository that the source names, or
// "".
func commitOf(entry lockfile.Module) string {
	const digits = 7
	revision := entry.Revision()
	if !strings.HasPrefix(entry.Source, "git::") || len(revision) < digits {
		return ""
	}
	return revision[:digits]
}

// jsonUpdate is a module whose package differs from that of the last run, although this run did
// not change its lock entry.
type jsonUpdate struct {
	Key string `json:"key"`
	// Old and New are versions, or packages without versions. New is absent if the lock has no
	// entry for the call any more.
	Old        string `json:"old"`
	New        string `json:"new,omitempty"`
	OldPackage string `json:"old_package,omitempty"`
	NewPackage string `json:"new_package,omitempty"`
}

func jsonUpdates(updates []cotter.LockChange) []jsonUpdate {
	var list []jsonUpdate
	for _, u := range updates {
		j := jsonUpdate{Key: u.Path.String(), Old: releaseName(u.Old), OldPackage: u.Old.Package}
		if u.New.Key != "" {
			j.New, j.NewPackage = releaseName(u.New), u.New.Package
		}
		list = append(list, j)
	}
	return list
}

// shortPackages describes a change of version. For two commits of the same repository, it
// names only the commits.
func shortPackages(before, after string) string {
	oldPackage, oldRef, ok1 := strings.Cut(before, "?ref=")
	newPackage, newRef, ok2 := strings.Cut(after, "?ref=")
	if ok1 && ok2 && oldPackage == newPackage && short(oldRef) != oldRef && short(newRef) != newRef {
		return fmt.Sprintf("commit %s -> %s", short(oldRef), short(newRef))
	}
	return before + " -> " + after
}

// jsonExclusion is a constraint that does not allow the old version of a changed entry.
type jsonExclusion struct {
	Key        string `json:"key,omitempty"` // The key of the module that has the constraint; absent for the root module.
	Constraint string `json:"constraint"`
	File       string `json:"file,omitempty"`
	Line       int    `json:"line,omitempty"`
}

// exclusionsOf returns the constraint that does not allow the old version of a module, if there is
// one.
func exclusionsOf(change cotter.LockChange) []jsonExclusion {
	if change.ExcludedBy == nil {
		return nil
	}
	by := change.ExcludedBy
	caller := by.Path[:len(by.Path)-1-len(by.Call.Prefix)]
	at := by.Call.VersionRange
	if at.Filename == "" { // the constraint is in the source address
		at = by.Call.SourceRange
	}
	return []jsonExclusion{{caller.String(), by.Constraint, at.Filename, at.Start.Line}}
}

// providerExclusions returns the constraints that do not allow the old version of a provider.
func providerExclusions(change cotter.ProviderChange) []jsonExclusion {
	var list []jsonExclusion
	for _, use := range change.ExcludedBy {
		list = append(list, jsonExclusion{use.Path.String(), use.Constraint, use.Range.Filename, use.Range.Start.Line})
	}
	return list
}

// maxExclusions is the maximum number of constraints that becauseOf names.
const maxExclusions = 3

// becauseOf returns text that names the constraints that exclude the old version, such as
// `, because "~> 2.0" (main.tf:3) excludes 1.4.0`. It returns "" if there are none.
func becauseOf(all []jsonExclusion, old string) string {
	if len(all) == 0 {
		return ""
	}
	var names []string
	for _, one := range all[:min(len(all), maxExclusions)] {
		name := fmt.Sprintf("%q", one.Constraint)
		if one.File != "" {
			name += fmt.Sprintf(" (%s:%d)", one.File, one.Line)
		}
		names = append(names, name)
	}
	if rest := len(all) - len(names); rest > 0 {
		names = append(names, count(rest, "other constraint"))
	}
	verb := "excludes"
	if len(all) > 1 {
		verb = "exclude"
	}
	return fmt.Sprintf(", because %s %s %s", enumeration(names), verb, old)
}

// enumeration joins names with commas and "and".
func enumeration(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// consequences returns what a changed version means for the caller: a line for each change
// of the interface, and a line with the numbers of changed files.
func consequences(change cotter.LockChange) []string {
	lines := interfaceLines(change.Interface)
	var files []string
	for _, group := range changedFiles(change.Files) {
		if n := len(group.files); n > 0 {
			files = append(files, fmt.Sprintf("%d %s", n, group.label))
		}
	}
	if files != nil {
		lines = append(lines, "files: "+strings.Join(files, ", "))
	}
	return lines
}

// markdown prints the changes of a run as a Markdown table for a pull request comment.
func (o *output) markdown(result *cotter.Result) {
	if len(result.LockChanges)+len(result.ProviderChanges) == 0 {
		what := "module"
		if len(result.Providers) > 0 {
			what = "module and no provider"
		}
		o.printf("No %s has changed.\n", what)
		return
	}
	o.printf("| module | before | after | what changes for the caller |\n|---|---|---|---|\n")
	for _, change := range result.LockChanges {
		var cells []string
		for _, text := range []string{change.Path.String(), versionOrPackage(change.Old), versionOrPackage(change.New)} {
			cells = append(cells, markdownCell(text))
		}
		what := consequences(change)
		if because := becauseOf(exclusionsOf(change), versionOrPackage(change.Old)); because != "" {
			what = append([]string{strings.TrimPrefix(because, ", ")}, what...)
		}
		if change.OtherContent != "" {
			what = append([]string{change.OtherContent}, what...)
		}
		cells = append(cells, joinCells(what))
		o.printf("| %s |\n", strings.Join(cells, " | "))
	}
	unsigned := fromProject(result.Providers)
	moved, others := splitMoved(result.ProviderChanges)
	if len(moved) > 0 {
		o.printf("| %s | %s | %s | %s |\n", markdownCell(count(len(moved), "provider")), markdownCell(moved[0].From.Hostname.ForDisplay()),
			markdownCell(moved[0].Provider.Hostname.ForDisplay()), markdownCell("at the locked versions"))
	}
	for _, change := range others {
		var what []string
		if because := becauseOf(providerExclusions(change), change.Old); because != "" {
			what = append(what, strings.TrimPrefix(because, ", "))
		}
		if slices.Contains(unsigned, change.Provider.ForDisplay()+" "+change.New) {
			what = append(what, evidence.Evidence{Kind: evidence.Project}.String())
		}
		what = append(what, hashChanges(change)...)
		o.printf("| %s | %s | %s | %s |\n", markdownCell("provider "+change.Provider.ForDisplay()), markdownCell(change.Old), markdownCell(change.New), joinCells(what))
	}
}

func joinCells(lines []string) string {
	for i, line := range lines {
		lines[i] = markdownCell(line)
	}
	return strings.Join(lines, "<br>")
}

// markdownCell returns text as a code span for a cell of a table. The text can neither end
// the cell nor act as markup.
func markdownCell(text string) string {
	if text == "" {
		return ""
	}
	text = strings.NewReplacer("`", "'", "|", `\|`, "\n", " ").Replace(text)
	return "`" + text + "`"
}

// jsonChange is a module whose lock entry has changed.
type jsonChange struct {
	Key string `json:"key"`
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Other is a description of other content under the same version, tag or address, which
	// the run has accepted.
	Other string `json:"other_content,omitempty"`
	// ExcludedBy is the list of constraints that do not allow the old version.
	ExcludedBy []jsonExclusion `json:"excluded_by,omitempty"`
	// Interface is the list of what changes for the caller.
	Interface []jsonInterfaceChange `json:"interface,omitempty"`
	Changed   []string              `json:"changed,omitempty"`
	Vanished  []string              `json:"vanished,omitempty"`
	Added     []string              `json:"added,omitempty"`
	// Selection is why the new version was selected, as in the line "resolved". It is absent
	// if the entry was removed.
	Selection string `json:"selection,omitempty"`
	// Newer is the newest version that the constraint allows, if it is newer than the new
	// version and the run has listed the versions.
	Newer string `json:"newer,omitempty"`
}

func jsonChanges(changes []cotter.LockChange) []jsonChange {
	var list []jsonChange
	for _, change := range changes {
		j := jsonChange{
			Key:   change.Path.String(),
			Old:   versionOrPackage(change.Old),
			New:   versionOrPackage(change.New),
			Newer: change.Newer,
			Other: change.OtherContent,

			ExcludedBy: exclusionsOf(change),

			Changed:  change.Files.Changed,
			Vanished: change.Files.Vanished,
			Added:    change.Files.Added,

			Interface: jsonInterfaces(change.Interface),
		}
		if j.New != "" {
			j.Selection = change.Selection.String()
		}
		list = append(list, j)
	}
	return list
}
