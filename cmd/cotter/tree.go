package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/graph"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/spf13/cobra"
)

// treeName is a command whose arguments are also names: see dirArguments.
const treeName = "tree"

func treeCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   treeName + " [KEY|PROVIDER] [DIR...]",
		Short: "show which module calls which, and the providers of each",
		Long: "Below each module, it lists the modules that it calls and the providers that it requires,\n" +
			"in parentheses with the constraints of that module. What is not installed is shown as\n" +
			"the lock has it. It sends no requests.\n" +
			"\n" +
			"For the key of a call, such as network.subnets, for a source address without subdirectory\n" +
			"and version, or for a provider, such as hashicorp/aws, it shows only the calls that lead\n" +
			"there, with their constraints, files and lines. With --recursive, that is a list of who\n" +
			"uses the module or the provider in all root modules, and in which version. Directories\n" +
			"begin with \"./\" or are absolute.\n" +
			"\n" +
			"With --evidence it shows who confirms each package, and since which day: its origin, a\n" +
			"mirror or a bundle that you name, or you.",
	}, runTree, configFlags(severalFlags(slices.Concat(evidenceFlags(), formatFlags("text, json, mermaid, dot, or html for a page"), []addFlag{
		toggle("evidence", "show who confirms each package, and since when"),
		onlyFlag("show only `WHAT`: modules or providers"),
	})...)...))
}

func runTree(ctx context.Context, cmd *invocation, out *output) error {
	format, err := formatOf(cmd, out)
	if err != nil {
		return err
	}
	dirs, several := dirArguments(cmd), severalProjects(cmd)
	names := slices.DeleteFunc(cmd.Args(), func(arg string) bool { return slices.Contains(dirs, arg) })
	switch {
	case len(names) > 1:
		return usageError{fmt.Errorf("cotter tree takes one key, source address or provider, got %s", view.Enumeration(names))}
	case several && pictures[format] != nil:
		return usageError{fmt.Errorf("--format %s is for one project", format)}
	}
	name := strings.Join(names, "")
	var mu sync.Mutex
	users := make(map[string]*tree) // by the directories of projects, if a name is given for several
	return out.toFile(cmd.String("out"), func() error {
		err := forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req request) error {
			t, failed := readTree(ctx, cmd, out, req)
			switch {
			case t == nil, failed != nil && len(t.Modules)+len(t.Providers) == 0:
				return failed
			case name == "":
				return cmp.Or(out.tree(t, format, false), failed)
			}
			part := t.only(name)
			found := len(part.Modules)+len(part.Providers) > 0
			switch {
			case !found && !several:
				return cmp.Or(failed, t.nothingNamed(name))
			case found && several:
				mu.Lock()
				users[req.Dir] = part
				mu.Unlock()
			}
			if several && (!found || format == formatText) {
				return failed
			}
			return cmp.Or(out.tree(part, format, true), failed)
		})
		switch {
		case err == nil && several && name != "" && len(users) == 0:
			return fmt.Errorf("no root module uses a module or a provider %q", name)
		case len(users) > 0 && format == formatText:
			out.users(users, name)
		}
		return err
	})
}

// tree is what is installed in a project.
type tree struct {
	records.Tree
	title string // the name of the project's directory
}

// readTree may return a tree and an error about parts that cannot be read.
func readTree(ctx context.Context, cmd *invocation, out *output, req request) (_ *tree, err error) {
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return nil, advice.NoConfigurationError{Dir: dir}
	}
	in, withEvidence := localInstaller(out), cmd.Bool("evidence")
	if withEvidence {
		if in, err = evidenceInstaller(ctx, cmd, out, req); err != nil {
			return nil, err
		}
		if req, err = withNamedStores(ctx, cmd, out, in, req); err != nil {
			return nil, err
		}
	}
	if req.Scope, err = scope(cmd); err != nil {
		return nil, err
	}
	result, failed := in.Load(ctx, req.Project, installer.LoadOptions{BestEffort: true, FromLock: true, Providers: req.Scope != installer.ScopeModules})
	if result == nil {
		return nil, failed
	}
	for _, u := range result.Unresolved {
		if !errors.Is(u.Err, installer.ErrNotInstalled) {
			failed = errors.Join(failed, u.Err)
		}
	}
	t, err := newTree(result, req, withEvidence)
	if err == nil && req.Scope == installer.ScopeProviders {
		t.Modules = nil
	}
	return t, cmp.Or(err, failed)
}

func newTree(result *installer.Result, req request, withEvidence bool) (*tree, error) {
	title, err := titleOf(req)
	if err != nil {
		return nil, err
	}
	t := &tree{records.Tree{Modules: records.Modules(result.Modules, withEvidence), Providers: records.Providers(result.Providers)}, title}
	for i, m := range result.Modules {
		if m.Dir == "" {
			t.Modules[i].NotInstalled = reasonMissing
		}
	}
	for i, p := range result.Providers {
		if t.Providers[i].Confirmed = records.ConfirmedText(p.Evidence); !withEvidence {
			t.Providers[i].Evidence, t.Providers[i].Confirmed = evidence.Evidence{}, ""
		}
	}
	t.addUnresolved(result.Unresolved)
	return t, nil
}

func titleOf(req request) (string, error) {
	dir, err := filepath.Abs(cmp.Or(req.Dir, "."))
	return filepath.Base(dir), err
}

// addUnresolved adds calls of modules that are neither installed nor locked, or cannot be read.
func (t *tree) addUnresolved(unresolved []installer.Unresolved) {
	for _, u := range unresolved {
		m := records.Module{Key: u.Path.String(), Source: addrs.Redact(u.Call.Source), Constraint: records.ConstraintOf(u.Call), Place: records.PlaceOf(u.Call.Range)}
		if u.Path.IsRoot() || slices.ContainsFunc(t.Modules, func(had records.Module) bool { return had.Key == m.Key }) {
			continue
		}
		if m.Shown = m.Source; u.Source != nil {
			m.Source, m.Shown = addrs.Redact(u.Source.String()), addrs.Redact(u.Source.ForDisplay())
		}
		err := u.Err
		if module, ok := errors.AsType[*installer.ModuleError](err); ok {
			err = module.Err
		}
		m.NotInstalled, _, _ = strings.Cut(strings.TrimPrefix(err.Error(), "module "), "\n") // of "module not installed"
		t.Modules = append(t.Modules, m)
	}
	slices.SortStableFunc(t.Modules, func(a, b records.Module) int { return graph.CompareKeys(a.Key, b.Key) })
}

// keysAbove returns "a" and "a.b" for "a.b.c".
func keysAbove(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i, c := range key {
			if c == '.' && !yield(key[:i]) {
				return
			}
		}
	}
}

func isBelow(key string, set map[string]bool) bool {
	for above := range keysAbove(key) {
		if set[above] {
			return true
		}
	}
	return false
}

const reasonMissing = "not installed"

// only returns the part of a tree that a name is about: the modules of that key or source with those below
// them, or the provider of that name, and the callers of these modules or of those that require it.
func (t *tree) only(name string) *tree {
	part, named := &tree{title: t.title}, make(map[string]bool)
	for _, m := range t.Modules {
		if m.IsNamed(name) {
			named[m.Key] = true
		}
	}
	byProvider, callers := len(named) == 0, make(map[string]bool) // of what is named
	for _, p := range t.Providers {
		if byProvider && isProvider(p.Address, name) {
			part.Providers = append(part.Providers, p)
			for _, use := range p.RequiredBy {
				named[use.Key] = true
			}
		}
	}
	within := func(key string) bool { return named[key] || !byProvider && isBelow(key, named) }
	for key := range named {
		for above := range keysAbove(key) {
			callers[above] = true
		}
	}
	for _, m := range t.Modules {
		if within(m.Key) || callers[m.Key] {
			part.Modules = append(part.Modules, m)
		}
	}
	for _, p := range t.Providers {
		p.RequiredBy = slices.DeleteFunc(slices.Clone(p.RequiredBy), func(use records.ProviderUse) bool { return !within(use.Key) })
		if !byProvider && len(p.RequiredBy) > 0 {
			part.Providers = append(part.Providers, p)
		}
	}
	return part
}

// isProvider reports whether name is a provider's address, with or without the host, or its type.
func isProvider(p addrs.Provider, name string) bool {
	return slices.Contains([]string{p.String(), p.ForDisplay(), p.Namespace + "/" + p.Type, p.Type}, name)
}

func (t *tree) nothingNamed(name string) error {
	var known []string
	for _, m := range t.Modules {
		known = append(known, m.Key)
	}
	for _, p := range t.Providers {
		known = append(known, p.Address.ForDisplay(), p.Address.Namespace+"/"+p.Address.Type)
	}
	hint := cmp.Or(view.DidYouMean(view.Nearest(name, slices.Compact(known))), "Run `cotter tree` to see the modules and the providers.")
	return advice.Hinted(fmt.Errorf("no module has the key or the source %q, and no module requires a provider of that name", name), hint)
}

// named says that the tree is about one module or provider.
func (o *output) tree(t *tree, format string, named bool) error {
	if format == formatJSON {
		t.Modules = append([]records.Module{}, t.Modules...)
		o.result(t.Tree)
		return nil
	}
	g := o.graph(t)
	if pictures[format] != nil {
		if format != "html" && !named {
			g.Providers = nil // the lines to a provider that all modules require would cover everything else
		}
		return o.picture(format, g)
	}
	if _, err := io.WriteString(o.stdout, g.Text(named || o.verbose)); err != nil {
		return err
	}
	missing := 0
	for _, m := range t.Modules {
		if m.NotInstalled != "" {
			missing++
		}
	}
	if missing > 0 && !o.quiet {
		o.warnf("not installed: %d of %s", missing, view.Count(len(t.Modules), "module"))
		o.printRemedies(advice.RemediesOf(o.Project, installer.ErrNotInstalled))
	}
	return nil
}

func (o *output) graph(t *tree) graph.Graph {
	g := graph.Graph{Title: t.title}
	for _, m := range t.Modules {
		shown := graph.Module{
			Key: m.Key, Source: m.Shown, Version: m.Version, Constraint: m.Constraint, Package: packageOf(m.Package), Dir: m.Dir, Place: o.At("", m.File, m.Line), Confirmed: m.Confirmed,
		}
		if m.Replaces != "" {
			shown.Source += " in place of " + m.Replaces
		}
		if m.NotInstalled != "" {
			shown.Marks = []graph.Mark{{Kind: graph.Missing, Text: strings.TrimLeft(strings.TrimPrefix(m.NotInstalled, reasonMissing), ": ")}}
		}
		g.Modules = append(g.Modules, shown)
	}
	for _, p := range t.Providers {
		shown := graph.Provider{Name: p.Address.ForDisplay(), Version: cmp.Or(p.Version, "(not locked)"), Constraints: p.Constraints, Confirmed: p.Confirmed}
		if p.LockedAs != (addrs.Provider{}) {
			shown.Version += " (locked as " + p.LockedAs.String() + ")"
		}
		for _, use := range p.RequiredBy {
			shown.Uses = append(shown.Uses, graph.Use{Key: use.Key, Constraint: use.Constraint, By: use.By, Place: o.At("", use.File, use.Line)})
		}
		if p.Version != "" && p.Dir == "" {
			shown.Marks = []graph.Mark{{Kind: graph.Missing}}
		}
		g.Providers = append(g.Providers, shown)
	}
	return g
}

// packageOf returns an address without the directory in the package, and without credentials.
func packageOf(address string) string {
	pkg, _ := addrs.SplitSubdir(address)
	return addrs.Redact(pkg)
}

// users prints who uses a module or a provider in several projects, by directory.
func (o *output) users(trees map[string]*tree, name string) {
	t, inUse := view.Table{Head: []string{"PROJECT", "KEY", "SOURCE", "VERSION", "CONSTRAINT", "CALL"}, Title: 2}, make(map[string]bool)
	for _, dir := range slices.Sorted(maps.Keys(trees)) {
		add := func(key, source, version, constraint string, file textform.Path, line int) {
			inUse[version] = true
			t.Add(dir, view.Dash(key), source, view.Dash(version), view.Dash(constraint), view.Dash(o.At(dir, file, line)))
		}
		for _, m := range trees[dir].Modules {
			if m.IsNamed(name) {
				add(m.Key, m.Shown, m.Version, m.Constraint, m.File, m.Line)
			}
		}
		for _, p := range trees[dir].Providers {
			for _, use := range p.RequiredBy {
				if isProvider(p.Address, name) {
					add(use.Key, p.Address.ForDisplay(), p.Version, use.Constraint, use.File, use.Line)
				}
			}
		}
	}
	t.Print(o.stdout, o.columns)
	o.notef("Used in %s, in %s.\n", view.Count(len(trees), "project"), view.Count(len(inUse), "version"))
}
