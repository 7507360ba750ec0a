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
	switch {
	case change.Old == "":
		return "added " + change.New
	case change.New == "":
		return "removed"
	case change.OtherContent != "":
		return change.OtherContent
	case change.Old != change.New:
		return shortPackages(change.Old, change.New)
	case change.OldConstraints != change.Constraints && change.Constraints == "":
		return change.New + ", now without a constraint"
	case change.OldConstraints != change.Constraints:
		return fmt.Sprintf("%s, now for the constraint %q", change.New, change.Constraints)
	}
	return change.New + ", from another source"
}

// updateText describes the change from a package that the last run installed to the one of the
// lock.
func updateText(update cotter.PackageUpdate) string {
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

func jsonUpdates(updates []cotter.PackageUpdate) []jsonUpdate {
	var list []jsonUpdate
	for _, u := range updates {
		j := jsonUpdate{Key: u.Key, Old: releaseName(u.Old), OldPackage: u.Old.Package}
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
	if !wouldChange(result) {
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
		for _, text := range []string{change.Key, change.Old, change.New} {
			cells = append(cells, markdownCell(text))
		}
		what := consequences(change)
		if change.OtherContent != "" {
			what = append([]string{change.OtherContent}, what...)
		}
		cells = append(cells, joinCells(what))
		o.printf("| %s |\n", strings.Join(cells, " | "))
	}
	unsigned := fromProject(result.Providers)
	for _, change := range result.ProviderChanges {
		var what []string
		if slices.Contains(unsigned, change.Provider.ForDisplay()+" "+change.New) {
			what = append(what, evidence.Evidence{Kind: evidence.Project}.String())
		}
		if change.Hashes > 0 {
			what = append(what, moreHashes(change.Hashes))
		}
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
	// Interface is the list of what changes for the caller.
	Interface []jsonInterfaceChange `json:"interface,omitempty"`
	Changed   []string              `json:"changed,omitempty"`
	Vanished  []string              `json:"vanished,omitempty"`
	Added     []string              `json:"added,omitempty"`
}

func jsonChanges(changes []cotter.LockChange) []jsonChange {
	var list []jsonChange
	for _, change := range changes {
		j := jsonChange{
			Key:      change.Key,
			Old:      change.Old,
			New:      change.New,
			Other:    change.OtherContent,
			Changed:  change.Files.Changed,
			Vanished: change.Files.Vanished,
			Added:    change.Files.Added,

			Interface: jsonInterfaces(change.Interface),
		}
		list = append(list, j)
	}
	return list
}
