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
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/cli/view"
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
			"the hashes in their lock. With --locks-only, only the locks are read.\n" +
			"\n" +
			"With --remote, the registries or mirrors of providers are asked whether the hashes that\n" +
			"only NEW has are those of packages of the release.",
	}, runDiff, configFlags(append(formatFlags("text, json, markdown, mermaid, dot, or html for a page"),
		policyFlag(), mirrorFlag(), exitCodeFlag(),
		toggle("recursive", "compare the locks of all root modules in and below the directory"),
		toggle("locks-only", "compare only the locks, without looking into the packages"),
		toggle("remote", "ask the sources of providers whether they have the added hashes"),
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
	case cmd.Bool("remote") && cmd.Bool("offline"):
		return usageError{errors.New("--remote cannot be combined with --offline")}
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
	changes                 []records.EntryChange
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
	d.changes = append(lists.Map(modules, records.ModuleEntryChange), lists.Map(providers, records.ProviderEntryChange)...)
	inBoth := func(c lockfile.ModuleChange) bool { return c.Old != nil && c.New != nil }
	if !cmd.Bool("locks-only") && slices.ContainsFunc(modules, inBoth) {
		if d.interfaces, err = diffInterfaces(ctx, cmd, in, out, req, d.old, d.updated); err != nil {
			return nil, err
		}
		d.interfaces.addTo(d.changes)
	}
	return d, confirmHashes(ctx, cmd, in, out, req, providers, d.changes[len(modules):])
}

func (o *output) lockDiff(d *lockDiff, format string) error {
	switch {
	case format == formatJSON:
		o.result(records.Diff{Changes: d.changes})
	case pictures[format] != nil:
		return o.picture(format, d.graph())
	case len(d.changes) == 0 && d.updated == nil:
		o.printf("Nothing to compare: the configuration needs no lock file.\n")
	case len(d.changes) == 0:
		o.printf("The locks have the same modules and providers.\n")
	case format == formatMarkdown:
		o.diffMarkdown(lists.Map(d.changes, func(c records.EntryChange) sharedChange { return sharedChange{EntryChange: c} }))
	default:
		o.diff(lists.Map(d.changes, func(c records.EntryChange) sharedChange {
			c.Interfaces = o.ShownInterface("", c.Interfaces)
			return sharedChange{EntryChange: c}
		}))
	}
	return nil
}

// sharedChange is a change in all of some projects; without projects, in the only one.
type sharedChange struct {
	records.EntryChange // of the first project, but with what changes for the callers in all
	dirs                []string
}

// sharedChanges joins the equal changes of several projects, by their directories. Those that break calls are
// first, then those of most projects.
func (o *output) sharedChanges(all map[string]*lockDiff) (list []sharedChange) {
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		for _, c := range all[dir].changes {
			c.Interfaces = o.ShownInterface(dir, c.Interfaces)
			list = append(list, sharedChange{c, []string{dir}})
		}
	}
	groups := lists.GroupBy(list, func(c sharedChange) string {
		return fmt.Sprintf("%q", append([]string{string(c.Change), c.Subject(), c.Before, c.After}, c.ShownDetails(o.verbose)...))
	})
	list = lists.Map(groups, func(same []sharedChange) sharedChange {
		joined := sharedChange{EntryChange: same[0].EntryChange}
		joined.Interfaces = nil
		for _, c := range same {
			joined.dirs = append(joined.dirs, c.dirs...)
			for _, change := range c.Interfaces {
				if !slices.Contains(joined.Interfaces, change) {
					joined.Interfaces = append(joined.Interfaces, change)
				}
			}
		}
		return joined
	})
	slices.SortStableFunc(list, func(a, b sharedChange) int {
		return cmp.Or(
			cmp.Compare(min(len(breaking(b.Interfaces)), 1), min(len(breaking(a.Interfaces)), 1)),
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
		marks[cmp.Or(c.Key, c.Provider)] = marksOf(c)
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

func marksOf(c records.EntryChange) []graph.Mark {
	first := graph.Mark{Kind: c.Change}
	switch c.Change {
	case graph.Updated:
		first.Text = addrs.Redact(c.ShownChange)
	case graph.Relocked:
		first.Text = strings.Join(c.Details, "; ")
	}
	marks := []graph.Mark{first}
	for _, i := range breaking(c.Interfaces) {
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
		line := resultLine{verb: "changed", subject: c.Subject(), what: c.Summary(), details: c.ShownDetails(o.verbose)}
		switch c.Change {
		case graph.Added, graph.Removed:
			line.verb = string(c.Change)
		}
		if c.dirs != nil {
			line.what += " in " + o.someProjects(c.dirs)
		}
		line.details = slices.Concat(line.details, shortList(interfaceLines(c.Interfaces)))
		list = append(list, line)
		if n := len(breaking(c.Interfaces)); n > 0 {
			breaks += n
			broken = append(broken, c.Subject())
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
		after := markdownCell(c.After)
		if several {
			after += " | " + o.someProjects(lists.Map(c.dirs, markdownCell))
		}
		details := slices.Concat(c.ShownDetails(o.verbose), shortList(interfaceLines(c.Interfaces)))
		if c.Change == graph.Content {
			details = append([]string{"OTHER CONTENT"}, details...)
		}
		o.printf("| %s | %s | %s | %s |\n", markdownCell(c.Subject()), markdownCell(c.Before), after, strings.Join(lists.Map(details, markdownCell), "<br>"))
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
