package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/config"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/repository"
)

func diffCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare two locks, and the interfaces of the modules in them",
		ArgsUsage: "[OLD [NEW]]",
		Description: "Lists the modules and providers that were added or removed, or that have a different\n" +
			"version, content, source or constraint. OLD and NEW can each be a lock file, a project\n" +
			"directory, a git revision such as HEAD~3 (the project's lock at that revision), or a\n" +
			"file at a revision, such as main:envs/dev/.terraform.lock.hcl. OLD defaults to HEAD,\n" +
			"and NEW to the project's current lock. The exit status is 0 even if the locks differ.\n" +
			"\n" +
			"For modules with different content, the command also lists what changes for their\n" +
			"callers (variables, outputs and providers) and which changes break the calls of this\n" +
			"project. For this, packages that are not in the cache are fetched and compared with\n" +
			"the hashes in their lock. With --locks-only, only the locks are read.",
		Flags: configFlags(append(slices.Concat(policyFlags(), mirrorFlags()), gitBackendFlag(),
			&cli.Flag{Name: "locks-only", Usage: "compare only the locks, without looking into the packages"},
			&cli.Flag{Name: "offline", Usage: "send no requests: compare the packages that are in the cache"},
			&cli.Flag{Name: "submodules", Usage: "fetch the submodules of git repositories too"},
			&cli.Flag{Name: "cache-dir", Type: cli.String, Usage: "keep fetched packages in `DIR`"},
			&cli.Flag{Name: "markdown", Usage: "print the changes as a table in Markdown"},
		)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runDiff(ctx, cmd, out)
		},
	}
}

func runDiff(ctx context.Context, cmd *cli.Invocation, out *output) error {
	if cmd.NArg() > 2 {
		return usageError{hinted(errors.New("cotter diff takes at most two locks: files, directories or git revisions"), "Without any, it shows what has changed since the last commit.")}
	}
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	reader := newLockReader(req)
	old, err := reader.read(ctx, cmp.Or(cmd.Arg(0), "HEAD"))
	if err != nil {
		return err
	}
	updated, err := reader.read(ctx, cmp.Or(cmd.Arg(1), reader.dir))
	if err != nil {
		return err
	}
	modules, providers := lockfile.Compare(old, updated)
	changes := entryChanges(modules, providers)
	var interfaces interfaceDiffs
	inBoth := func(c lockfile.ModuleChange) bool { return c.Old != nil && c.New != nil }
	if !cmd.Bool("locks-only") && slices.ContainsFunc(modules, inBoth) {
		if interfaces, err = diffInterfaces(ctx, cmd, out, req, old, updated); err != nil {
			return err
		}
		interfaces.addTo(changes)
	}
	switch {
	case out.json:
		err = out.writeJSON(diffRecord{changes})
	case len(changes) == 0:
		out.printf("The locks have the same modules and providers.\n")
	case cmd.Bool("markdown"):
		out.diffMarkdown(changes)
	default:
		out.diff(changes)
	}
	return errors.Join(err, interfaces.report(out))
}

// diff prints changes as text: with --verbose all details, and otherwise versions with short
// commits and digests.
func (o *output) diff(changes []entryChange) {
	breaking := 0
	var broken []string
	var list []resultLine
	for _, c := range changes {
		line := resultLine{verb: "changed", subject: c.subject(), what: c.summary(), details: c.shownDetails(o.verbose)}
		switch c.Change {
		case changeAdded, changeRemoved:
			line.verb = c.Change
		}
		line.details = slices.Concat(line.details, shortList(interfaceLines(o.shownInterface("", c.interfaces))))
		list = append(list, line)
		if n := breakingChanges(c.interfaces); n > 0 {
			breaking += n
			broken = append(broken, c.subject())
		}
	}
	o.printOutcomes(list, "")
	if breaking > 0 {
		o.notef("\n%s, in %s.\n", count(breaking, "breaking change"), strings.Join(broken, ", "))
	}
}

// diffMarkdown prints changes as a Markdown table for a pull request comment.
func (o *output) diffMarkdown(changes []entryChange) {
	o.printf("| module or provider | before | after | details |\n|---|---|---|---|\n")
	for _, c := range changes {
		details := slices.Concat(c.shownDetails(o.verbose), shortList(interfaceLines(c.interfaces)))
		if c.Change == changeContent {
			details = append([]string{"OTHER CONTENT"}, details...)
		}
		o.printf("| %s | %s | %s | %s |\n", markdownCell(c.subject()), markdownCell(c.before), markdownCell(c.after), joinCells(details))
	}
}

// lockReader reads the locks that the command line names.
type lockReader struct {
	req      cotter.Request
	dir      string // the project's directory
	lockFile string // the project's lock file, relative to dir
}

func newLockReader(req cotter.Request) lockReader {
	return lockReader{req: req, dir: cmp.Or(req.Dir, "."), lockFile: cmp.Or(req.LockFile, stockLockName)}
}

// read reads the lock that name refers to: a file, the lock in a directory, or a lock at a
// git revision.
func (r lockReader) read(ctx context.Context, name string) (*lockfile.File, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		name = filepath.Join(name, r.lockFile)
		if _, err := os.Lstat(name); err != nil {
			return nil, err
		}
		return checkedLock(readLock(name))
	case err == nil:
		return checkedLock(readLock(name))
	case !errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, ":"):
		return nil, err
	}
	lock, err := repository.LockAt(ctx, r.req, name)
	if errors.Is(err, repository.ErrNoRepository) {
		return nil, fmt.Errorf("%s is neither a file nor a git revision: %w", name, err)
	}
	return checkedLock(lock, err)
}

// checkedLock returns an error if the lock has provider blocks that cannot be read: a
// comparison would report their providers as removed.
func checkedLock(lock *lockfile.File, err error) (*lockfile.File, error) {
	if err != nil {
		return nil, err
	}
	if faults := lock.ProviderFaults(); faults.HasErrors() {
		return nil, faults
	}
	return lock, nil
}

// The kinds of changes. The first that applies is used.
const (
	changeAdded   = "added"
	changeRemoved = "removed"
	changeVersion = "version"
	changeContent = "content"
	changeOther   = "other" // the source, the constraints, or hashes of more platforms
)

// entryChange is a module or a provider whose entries differ between two locks.
type entryChange struct {
	Key      string `json:"key,omitempty"`
	Provider string `json:"provider,omitempty"`
	Change   string `json:"change"`
	// Old is the version in the old lock, or the package if the entry has no version.
	Old string `json:"old,omitempty"`
	// New is the version in the new lock, or the package if the entry has no version.
	New string `json:"new,omitempty"`
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
	// before and after are Old and New as shown in text, and shownChange is the change from one to the
	// other.
	before, after, shownChange string
	// full has the packages with their full revisions, and newRef is the detail that only the tag
	// or branch in the source differs. Both are for --verbose.
	full   []string
	newRef string
}

// subject returns the name of the module or provider for text.
func (c entryChange) subject() string {
	return cmp.Or(c.Key, c.shown)
}

func (c entryChange) summary() string {
	switch c.Change {
	case changeAdded:
		return c.after
	case changeRemoved:
		return c.before
	case changeContent:
		return c.shownChange + " with OTHER CONTENT"
	}
	return c.shownChange
}

// shownDetails returns the details for text. Without verbose, those are missing that differ only in
// the revision, which the summary has.
func (c entryChange) shownDetails(verbose bool) []string {
	if verbose {
		return slices.Compact(slices.Concat(c.Details, c.full))
	}
	return slices.DeleteFunc(slices.Clone(c.Details), func(detail string) bool { return slices.Contains(c.full, detail) || detail == c.newRef })
}

// differs adds a detail if two values differ.
func (c *entryChange) differs(what, old, updated string) {
	if old != updated {
		c.Details = append(c.Details, fmt.Sprintf("%s %q -> %q", what, old, updated))
	}
}

// entryChanges describes the differences between two locks.
func entryChanges(modules []lockfile.ModuleChange, providers []lockfile.ProviderChange) []entryChange {
	list := []entryChange{}
	for _, c := range modules {
		list = append(list, moduleChange(c))
	}
	for _, c := range providers {
		list = append(list, providerChange(c))
	}
	return list
}

func moduleChange(from lockfile.ModuleChange) entryChange {
	c := entryChange{Key: from.Key}
	if from.Old != nil {
		c.Old = cmp.Or(from.Old.Version, from.Old.Package)
	}
	if from.New != nil {
		c.New = cmp.Or(from.New.Version, from.New.Package)
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, from.OtherContent(), c.Old != c.New)
	c.before, c.after = releaseText(valueOf(from.Old)), releaseText(valueOf(from.New))
	if from.Old == nil || from.New == nil {
		return c
	}
	if c.shownChange = c.after; c.before != c.after {
		c.shownChange = releaseChange(*from.Old, *from.New)
	}
	c.differs("source", from.Old.Source, from.New.Source)
	if len(c.Details) > 0 && sourceName(from.Old.Source) == sourceName(from.New.Source) {
		c.newRef = c.Details[0]
	}
	if from.Old.Package != from.New.Package && shortRevision(*from.New) != "" {
		c.full = []string{fmt.Sprintf("package %q -> %q", from.Old.Package, from.New.Package)}
	}
	c.differs("constraint", from.Old.Constraints, from.New.Constraints)
	if c.Change == changeContent || c.Change == changeOther {
		c.differs("package", from.Old.Package, from.New.Package)
	}
	return c
}

// valueOf returns the entry that a pointer points to, or an empty one for nil.
func valueOf(entry *lockfile.Module) lockfile.Module {
	if entry == nil {
		return lockfile.Module{}
	}
	return *entry
}

func providerChange(from lockfile.ProviderChange) entryChange {
	c := entryChange{Provider: from.Address.String(), shown: "provider " + from.Address.ForDisplay()}
	if from.Old != nil {
		c.Old = from.Old.Version
	}
	if from.New != nil {
		c.New = from.New.Version
	}
	c.Change = kindOfChange(from.Old != nil, from.New != nil, false, c.Old != c.New)
	c.before, c.after, c.shownChange = c.Old, c.New, c.New
	if c.Old != c.New {
		c.shownChange = c.Old + " -> " + c.New
	}
	if from.Old == nil || from.New == nil {
		return c
	}
	c.differs("constraints", from.Old.Constraints, from.New.Constraints)
	added, removed := from.Hashes()
	switch {
	case c.Change == changeVersion:
	case from.NoCommonHash():
		c.Details = append(c.Details, "no hash in common: other content, or other platforms")
	case added+removed > 0:
		c.Details = append(c.Details, fmt.Sprintf("hashes: %d added, %d removed", added, removed))
	}
	return c
}

func kindOfChange(had, has, otherContent, moved bool) string {
	switch {
	case !had:
		return changeAdded
	case !has:
		return changeRemoved
	case otherContent:
		return changeContent
	case moved:
		return changeVersion
	}
	return changeOther
}
