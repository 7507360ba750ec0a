package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/graph"
	"github.com/cotterpin/cotter/internal/lists"
	"github.com/cotterpin/cotter/internal/repository"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/spf13/cobra"
)

// diffName is a command whose arguments are locks.
const diffName = "diff"

func diffCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   diffName + " [OLD [NEW]]",
		Short: "compare two locks, and the interfaces of the modules in them",
		Long: "Lists the modules and providers that were added or removed, or that have a different\n" +
			"version, content, source or constraint. OLD and NEW can each be a lock file, a project\n" +
			"directory, a git revision such as HEAD~3 (the project's lock at that revision), or a\n" +
			"file at a revision, such as main:envs/dev/.terraform.lock.hcl. OLD defaults to HEAD, and\n" +
			"NEW to the project's current lock. The exit status is 0 even if the locks differ, and 3\n" +
			"with --exit-code. With --recursive, OLD and NEW are git revisions, and a change that\n" +
			"several root modules have in common is listed once.\n" +
			"\n" +
			"For modules with different content, the command also lists what changes for their\n" +
			"callers (variables, outputs and providers) and which changes break the calls of this\n" +
			"project. For this, packages that are not in the cache are fetched and compared with\n" +
			"the hashes in their lock. With --locks-only, only the locks are read.",
	}, runDiff, configFlags(append(formatFlags("text, json, markdown, mermaid, dot, or html for a page"),
		policyFlag(), mirrorFlag(), exitCodeFlag(),
		toggle("recursive", "compare the locks of all root modules in and below the directory"),
		toggle("locks-only", "compare only the locks, without looking into the packages"),
		toggle("offline", "send no requests: compare the packages that are in the cache"),
		toggle("markdown", "print the changes as a table in Markdown"),
	)...))
}

func exitCodeFlag() addFlag {
	return toggle("exit-code", "exit with 3 if there is something to list")
}

func runDiff(ctx context.Context, cmd *invocation, out *output) error {
	format, err := formatOf(cmd, out, formatMarkdown)
	several := severalProjects(cmd)
	switch {
	case err != nil:
		return err
	case cmd.NArg() > 2:
		return usageError{advice.Hinted(errors.New("cotter diff takes at most two locks: files, directories or git revisions"), "For example, `cotter diff HEAD` shows what has changed since the last commit.")}
	case several && pictures[format] != nil:
		return usageError{fmt.Errorf("--format %s is for one project", format)}
	}
	var mu sync.Mutex
	all := make(map[string]*lockDiff) // by the directories of projects
	return out.toFile(cmd.String("out"), func() error {
		err := withOrigins(ctx, cmd, out, func(ctx context.Context, in *installer.Installer, out *output, req request) error {
			d, err := newLockDiff(ctx, cmd, in, out, req)
			if err != nil {
				return err
			}
			mu.Lock()
			all[req.Dir] = d
			mu.Unlock()
			if !several || format == formatJSON {
				err = out.lockDiff(d, format)
			}
			return errors.Join(err, d.interfaces.report(out))
		})
		shared := out.sharedChanges(all)
		switch {
		case !several || len(shared) == 0:
		case format == formatMarkdown:
			out.diffMarkdown(shared)
		case format == formatText:
			out.diff(shared)
		}
		switch {
		case err == nil && len(shared) > 0 && cmd.Bool("exit-code"):
			return errFound
		case err == nil && len(shared) == 0 && several && format == formatText:
			out.notef("%s: the locks have the same modules and providers.\n", view.Count(len(all), "project"))
		}
		return err
	})
}

type lockDiff struct {
	title, oldName, newName string
	old, updated            *lockfile.File
	changes                 []entryChange
	interfaces              interfaceDiffs
}

func newLockDiff(ctx context.Context, cmd *invocation, in *installer.Installer, out *output, req request) (_ *lockDiff, err error) {
	reader := lockReader{req: req, dir: cmp.Or(req.Dir, "."), lockFile: cmp.Or(req.LockFile, lockfile.Name), revisions: severalProjects(cmd)}
	d := &lockDiff{oldName: cmp.Or(cmd.Arg(0), "HEAD"), newName: cmp.Or(cmd.Arg(1), reader.lockFile)}
	if d.title, err = titleOf(req); err != nil {
		return nil, err
	}
	if d.old, err = reader.read(ctx, d.oldName); err != nil {
		return nil, err
	}
	if cmd.Arg(1) == "" {
		d.updated, err = reader.currentIfNeeded(ctx, in)
	} else {
		d.updated, err = reader.read(ctx, d.newName)
	}
	if err != nil {
		return nil, err
	}
	modules, providers := lockfile.Compare(d.old, d.updated)
	d.changes = append(lists.Map(modules, moduleChange), lists.Map(providers, providerChange)...)
	inBoth := func(c lockfile.ModuleChange) bool { return c.Old != nil && c.New != nil }
	if !cmd.Bool("locks-only") && slices.ContainsFunc(modules, inBoth) {
		if d.interfaces, err = diffInterfaces(ctx, cmd, in, out, req, d.old, d.updated); err != nil {
			return nil, err
		}
		d.interfaces.addTo(d.changes)
	}
	return d, nil
}

func (o *output) lockDiff(d *lockDiff, format string) error {
	switch {
	case format == formatJSON:
		o.result(diffRecord{d.changes})
	case pictures[format] != nil:
		return o.picture(format, d.graph())
	case len(d.changes) == 0 && d.updated == nil:
		o.printf("Nothing to compare: the configuration needs no lock file.\n")
	case len(d.changes) == 0:
		o.printf("The locks have the same modules and providers.\n")
	case format == formatMarkdown:
		o.diffMarkdown(lists.Map(d.changes, func(c entryChange) sharedChange { return sharedChange{entryChange: c} }))
	default:
		o.diff(lists.Map(d.changes, func(c entryChange) sharedChange {
			c.interfaces = o.ShownInterface("", c.interfaces)
			return sharedChange{entryChange: c}
		}))
	}
	return nil
}

// sharedChange is a change in all of some projects; without projects, in the only one.
type sharedChange struct {
	entryChange // of the first project, but with what changes for the callers in all
	dirs        []string
}

// sharedChanges joins the equal changes of several projects, by their directories. Those that break calls are
// first, then those of most projects.
func (o *output) sharedChanges(all map[string]*lockDiff) (list []sharedChange) {
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		for _, c := range all[dir].changes {
			c.interfaces = o.ShownInterface(dir, c.interfaces)
			list = append(list, sharedChange{c, []string{dir}})
		}
	}
	groups := lists.GroupBy(list, func(c sharedChange) string {
		return fmt.Sprintf("%q", append([]string{string(c.Change), c.subject(), c.before, c.after}, c.shownDetails(o.verbose)...))
	})
	list = lists.Map(groups, func(same []sharedChange) sharedChange {
		joined := sharedChange{entryChange: same[0].entryChange}
		joined.interfaces = nil
		for _, c := range same {
			joined.dirs = append(joined.dirs, c.dirs...)
			for _, change := range c.interfaces {
				if !slices.Contains(joined.interfaces, change) {
					joined.interfaces = append(joined.interfaces, change)
				}
			}
		}
		return joined
	})
	slices.SortStableFunc(list, func(a, b sharedChange) int {
		return cmp.Or(
			cmp.Compare(min(len(breaking(b.interfaces)), 1), min(len(breaking(a.interfaces)), 1)),
			cmp.Compare(len(b.dirs), len(a.dirs)),
		)
	})
	return list
}

func (o *output) someProjects(names []string) string {
	if o.verbose {
		return view.Enumeration(names)
	}
	return view.SomeOf(names, view.MaxNamed)
}

// graph has the modules and providers of both locks, with their changes. Locks have no local modules.
func (d *lockDiff) graph() graph.Graph {
	g := graph.Graph{Title: d.title, Old: d.oldName, New: d.newName}
	marks, seen := make(map[string][]graph.Mark), make(map[string]bool) // by the keys of modules and the addresses of providers
	for _, c := range d.changes {
		marks[cmp.Or(c.Key, c.Provider)] = c.marks()
	}
	for _, lock := range []*lockfile.File{d.updated, d.old} {
		for _, m := range lock.Modules() {
			if !seen[m.Key] {
				seen[m.Key] = true
				g.Modules = append(g.Modules, graph.Module{
					Key: m.Key, Source: addrs.Redact(m.Source.String()), Version: m.Version.String(), Constraint: m.Constraints.String(), Package: m.Package.Package.Redacted(), Marks: marks[m.Key],
				})
			}
		}
		for _, p := range lock.Providers() {
			if name := p.Address.String(); !seen[name] {
				seen[name] = true
				g.Providers = append(g.Providers, graph.Provider{Name: p.Address.ForDisplay(), Version: p.Version.String(), Constraints: p.Constraints.String(), Marks: marks[name]})
			}
		}
	}
	return g
}

func (c entryChange) marks() []graph.Mark {
	first := graph.Mark{Kind: c.Change}
	switch c.Change {
	case graph.Updated:
		first.Text = addrs.Redact(c.shownChange)
	case graph.Relocked:
		first.Text = strings.Join(c.Details, "; ")
	}
	marks := []graph.Mark{first}
	for _, i := range breaking(c.interfaces) {
		marks = append(marks, graph.Mark{Kind: graph.Breaking, Text: i.String()})
	}
	return marks
}

// diff prints changes as text, with all details only for --verbose.
func (o *output) diff(changes []sharedChange) {
	breaks := 0
	var broken []string
	var list []resultLine
	for _, c := range changes {
		line := resultLine{verb: "changed", subject: c.subject(), what: c.summary(), details: c.shownDetails(o.verbose)}
		switch c.Change {
		case graph.Added, graph.Removed:
			line.verb = string(c.Change)
		}
		if c.dirs != nil {
			line.what += " in " + o.someProjects(c.dirs)
		}
		line.details = slices.Concat(line.details, shortList(interfaceLines(c.interfaces)))
		list = append(list, line)
		if n := len(breaking(c.interfaces)); n > 0 {
			breaks += n
			broken = append(broken, c.subject())
		}
	}
	o.printOutcomes(list, "")
	if breaks > 0 {
		o.notef("\n%s, in %s.\n", view.Count(breaks, "breaking change"), strings.Join(lists.Distinct(broken), ", "))
	}
}

func (o *output) diffMarkdown(changes []sharedChange) {
	several := changes[0].dirs != nil
	if several {
		o.printf("| module or provider | before | after | projects | details |\n|---|---|---|---|---|\n")
	} else {
		o.printf("| module or provider | before | after | details |\n|---|---|---|---|\n")
	}
	for _, c := range changes {
		after := markdownCell(c.after)
		if several {
			after += " | " + o.someProjects(lists.Map(c.dirs, markdownCell))
		}
		details := slices.Concat(c.shownDetails(o.verbose), shortList(interfaceLines(c.interfaces)))
		if c.Change == graph.Content {
			details = append([]string{"OTHER CONTENT"}, details...)
		}
		o.printf("| %s | %s | %s | %s |\n", markdownCell(c.subject()), markdownCell(c.before), after, strings.Join(lists.Map(details, markdownCell), "<br>"))
	}
}

type lockReader struct {
	req       request
	dir       string // the project's directory
	lockFile  string // the project's lock file, relative to dir
	revisions bool   // names are git revisions only
}

func (r lockReader) current(ctx context.Context) (*lockfile.File, error) {
	name := filepath.Join(r.dir, r.lockFile)
	if _, err := os.Lstat(name); err != nil {
		return nil, err
	}
	return checkedLock(installer.ReadLock(ctx, installer.Project{Dir: r.dir, LockFile: r.lockFile}))
}

// currentIfNeeded is current for the project itself, whose lock may be missing if it needs none.
func (r lockReader) currentIfNeeded(ctx context.Context, in *installer.Installer) (*lockfile.File, error) {
	if view.Absent(lockPath(r.req)) {
		return nil, requireLock(ctx, in, r.req.Project) // a nil lock has no entries
	}
	return r.current(ctx)
}

// read reads a lock: name is a file, a directory with a lock, or a git revision.
func (r lockReader) read(ctx context.Context, name string) (*lockfile.File, error) {
	info, err := os.Stat(name)
	switch {
	case r.revisions:
	case err == nil && info.IsDir():
		r.dir = name
		return r.current(ctx)
	case err == nil:
		return checkedLock(installer.ReadLock(ctx, installer.Project{Dir: filepath.Dir(name), LockFile: filepath.Base(name)}))
	case !errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, ":"):
		return nil, err
	}
	lock, err := repository.LockAt(ctx, r.req.Project, name)
	if errors.Is(err, repository.ErrNoRepository) {
		return nil, fmt.Errorf("%s is neither a file nor a git revision: %w", name, err)
	}
	return checkedLock(lock, err)
}

// checkedLock refuses provider blocks that cannot be read: they would be reported as removed.
func checkedLock(lock *lockfile.File, err error) (*lockfile.File, error) {
	if err != nil {
		return nil, err
	}
	if faults := lock.ProviderFaults(); faults.HasErrors() {
		return nil, faults
	}
	return lock, nil
}

// entryChange is a module or a provider whose entries differ between two locks.
type entryChange struct {
	Key      string `json:"key,omitempty"`
	Provider string `json:"provider,omitempty"`
	// Change is "added", "removed", "version", "content" or "other": the first that applies. The last is a
	// change of the source, the constraints, or the hashes of other platforms.
	Change graph.Kind `json:"change"`
	// Old is the version in the old lock, or the package if the entry has no version.
	Old string `json:"old,omitempty"`
	// New is the version in the new lock, or the package if the entry has no version.
	New string `json:"new,omitempty"`
	// OldSource is the source of the old entry of a module, without credentials.
	OldSource string `json:"old_source,omitempty"`
	// Source is the source of the new entry of a module, without credentials.
	Source string `json:"source,omitempty"`
	// Details are the other differences, one per line.
	Details []string `json:"details,omitempty"`
	// Compared is true if the packages were compared.
	Compared bool `json:"compared,omitempty"`
	// Interface is the list of what changes for callers.
	Interface []jsonInterfaceChange `json:"interface,omitempty"`
	// InterfaceError is the reason why the packages could not be compared.
	InterfaceError string `json:"interface_error,omitempty"`

	shown      string                   // Provider as shown in text
	interfaces []config.InterfaceChange // Interface as shown in text
	// Old and New as shown in text, and the change from one to the other.
	before, after, shownChange string
	// full has the packages with full revisions, and newRef is the detail that only the tag or branch of
	// the source differs. Both are for --verbose.
	full   []string
	newRef string
}

func (c entryChange) subject() string {
	return cmp.Or(c.Key, c.shown)
}

func (c entryChange) summary() string {
	switch c.Change {
	case graph.Added:
		return c.after
	case graph.Removed:
		return c.before
	case graph.Content:
		return c.shownChange + " with OTHER CONTENT"
	}
	return c.shownChange
}

// shownDetails leaves out details that differ only in the revision, which the summary has, unless verbose.
func (c entryChange) shownDetails(verbose bool) []string {
	if verbose {
		return slices.Compact(slices.Concat(c.Details, c.full))
	}
	return slices.DeleteFunc(slices.Clone(c.Details), func(detail string) bool { return slices.Contains(c.full, detail) || detail == c.newRef })
}

func (c *entryChange) differs(what, old, updated string) {
	if old != updated {
		c.Details = append(c.Details, fmt.Sprintf("%s %q -> %q", what, old, updated))
	}
}

func moduleChange(from lockfile.ModuleChange) entryChange {
	old, updated := valueOf(from.Old), valueOf(from.New)
	c := entryChange{
		Key: from.Key, Old: versionOrPackage(old), New: versionOrPackage(updated), OldSource: redactedSource(old), Source: redactedSource(updated),
		before: releaseText(old), after: releaseText(updated),
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, from.OtherContent(), c.Old != c.New)
	switch {
	case from.New == nil:
		return c
	case from.Old == nil:
		c.after = sourceText(updated) // a reviewer has not seen it before
		return c
	}
	if c.shownChange = c.after; c.before != c.after {
		c.shownChange = releaseChange(old, updated)
	}
	c.differs("source", old.Source.String(), updated.Source.String())
	if len(c.Details) > 0 && entryName(old) == entryName(updated) {
		c.newRef = c.Details[0]
	}
	if old.Package != updated.Package && shortRevision(updated) != "" {
		c.full = []string{fmt.Sprintf("package %q -> %q", old.Package.String(), updated.Package.String())}
	}
	c.differs("constraint", old.Constraints.String(), updated.Constraints.String())
	if c.Change == graph.Content || c.Change == graph.Relocked {
		c.differs("package", old.Package.String(), updated.Package.String())
	}
	return c
}

// valueOf returns the zero value for an entry that a lock does not have.
func valueOf[T any](entry *T) (value T) {
	if entry != nil {
		value = *entry
	}
	return value
}

func providerChange(from lockfile.ProviderChange) entryChange {
	c := entryChange{Provider: from.Address.String(), shown: "provider " + from.Address.ForDisplay(), Old: valueOf(from.Old).Version.String(), New: valueOf(from.New).Version.String()}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, false, c.Old != c.New)
	c.before, c.after, c.shownChange = c.Old, c.New, c.New
	if c.Old != c.New {
		c.shownChange = c.Old + " -> " + c.New
	}
	if from.Old == nil || from.New == nil {
		return c
	}
	c.differs("constraints", from.Old.Constraints.String(), from.New.Constraints.String())
	added, removed := from.Hashes()
	switch {
	case c.Change == graph.Updated:
	case from.NoCommonHash():
		c.Details = append(c.Details, "no hash in common: other content, or other platforms")
	case added+removed > 0:
		c.Details = append(c.Details, fmt.Sprintf("hashes: %d added, %d removed", added, removed))
	}
	return c
}

func kindOfChange(had, has, otherContent, moved bool) graph.Kind {
	switch {
	case !had:
		return graph.Added
	case !has:
		return graph.Removed
	case otherContent:
		return graph.Content
	case moved:
		return graph.Updated
	}
	return graph.Relocked
}
