package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/evidence"
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
