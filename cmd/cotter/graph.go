package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/internal/graph"
	"github.com/cotterpin/cotter/lockfile"
)

func graphCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw the module tree: text, Graphviz, Mermaid, SVG or an HTML page",
		ArgsUsage: "[NEW]",
		Description: "Shows each module below the module that calls it, with its version, and the providers\n" +
			"that modules require. The graph also shows which modules share a package, and what is\n" +
			"wrong: files that were changed since the installation, missing modules, and lock\n" +
			"entries that are out of date. With --outdated and --remote it asks the origins, like\n" +
			"outdated and verify --remote. The HTML page is a single file that needs no network; for\n" +
			"each module and provider it shows who requires it, and which versions are allowed.\n" +
			"\n" +
			"With --diff it shows the differences between two locks, named as for cotter diff: OLD\n" +
			"and the current project, or OLD and NEW.",
		Flags: configFlags(
			&cli.Flag{Name: "format", Type: cli.String, Usage: "write `FORMAT`: text, dot, mermaid, svg or html; the default is the format for the extension of --out, or text"},
			&cli.Flag{Name: "out", Type: cli.String, Usage: "write to `FILE` instead of standard output"},
			&cli.Flag{Name: "providers", Usage: "show the providers, and which modules require them; the default in text, HTML and JSON"},
			&cli.Flag{Name: "no-providers", Usage: "show modules only"},
			&cli.Flag{Name: "outdated", Usage: "ask origins for newer versions"},
			&cli.Flag{Name: "remote", Usage: "ask origins whether they still have the locked content"},
			&cli.Flag{Name: "diff", Type: cli.String, Usage: "compare with the lock `OLD`: a file, a directory or a git revision"},
			&cli.Flag{Name: "cache-dir", Type: cli.String, Usage: "keep fetched packages in `DIR`"},
		),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runGraph(ctx, cmd, out)
		},
	}
}

// graphFormats has the renderer of each format.
var graphFormats = map[string]func(graph.Graph) (string, error){
	"text":    func(g graph.Graph) (string, error) { return g.Text(), nil },
	"dot":     func(g graph.Graph) (string, error) { return g.DOT(), nil },
	"mermaid": func(g graph.Graph) (string, error) { return g.Mermaid(), nil },
	"svg":     func(g graph.Graph) (string, error) { return g.SVG(), nil },
	"html":    graph.Graph.HTML,
}

// graphEndings has the format for each file name extension.
var graphEndings = map[string]string{
	".dot": "dot", ".gv": "dot", ".mmd": "mermaid", ".mermaid": "mermaid", ".svg": "svg", ".html": "html", ".htm": "html",
}

// graphFormat returns the renderer that the command line selects, or nil for JSON.
func graphFormat(cmd *cli.Invocation, out *output) (func(graph.Graph) (string, error), error) {
	name := cmd.String("format")
	if out.json {
		if name != "" {
			return nil, usageError{fmt.Errorf("--json and --format %s cannot be used together", name)}
		}
		return nil, nil
	}
	if name == "" {
		name = cmp.Or(graphEndings[strings.ToLower(filepath.Ext(cmd.String("out")))], "text")
	}
	render, ok := graphFormats[name]
	if !ok {
		return nil, usageError{fmt.Errorf("--format takes text, dot, mermaid, svg or html, got %q", name)}
	}
	return render, nil
}

// runGraph writes the graph with everything that could be found out. If origins did not
// answer, it returns the error after writing the graph.
func runGraph(ctx context.Context, cmd *cli.Invocation, out *output) error {
	render, err := graphFormat(cmd, out)
	if err != nil {
		return err
	}
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	if err := checkGraphArguments(cmd); err != nil {
		return err
	}
	var g graph.Graph
	var unknown error
	if cmd.NArg() > 0 {
		g, err = lockGraph(ctx, cmd, req)
	} else {
		g, unknown, err = projectGraph(ctx, cmd, out, req)
	}
	if err != nil {
		return err
	}
	if err := writeGraph(cmd, out, g, render); err != nil {
		return err
	}
	return unknown
}

// showsProviders reports whether a graph has the providers. By default, pictures do not have them:
// the lines to a provider that all modules require would cover everything else.
func showsProviders(cmd *cli.Invocation) bool {
	if cmd.IsSet("providers") || cmd.Bool("no-providers") {
		return cmd.Bool("providers")
	}
	switch cmp.Or(cmd.String("format"), graphEndings[strings.ToLower(filepath.Ext(cmd.String("out")))]) {
	case "dot", "mermaid", "svg":
		return false
	}
	return true
}

// checkGraphArguments refuses flags and arguments that cannot be used together.
func checkGraphArguments(cmd *cli.Invocation) error {
	switch n := cmd.NArg(); {
	case cmd.Bool("providers") && cmd.Bool("no-providers"):
		return usageError{errors.New("--providers and --no-providers cannot be used together")}
	case n > 1:
		return usageError{fmt.Errorf("cotter graph takes one argument, the newer of two locks, got %d", n)}
	case n == 1 && cmd.String("diff") == "":
		return usageError{fmt.Errorf("cotter graph takes an argument only with --diff: --diff OLD NEW")}
	case n == 1 && (cmd.Bool("outdated") || cmd.Bool("remote")):
		return usageError{errors.New("--outdated and --remote apply to the current project, and cannot be used with the argument NEW")}
	}
	return nil
}

// writeGraph writes a graph to a file or to standard output.
func writeGraph(cmd *cli.Invocation, out *output, g graph.Graph, render func(graph.Graph) (string, error)) error {
	if render == nil {
		render = func(g graph.Graph) (string, error) {
			var text strings.Builder
			err := (&output{stdout: &text}).writeJSON(jsonGraph(g))
			return text.String(), err
		}
	}
	text, err := render(g)
	if err != nil {
		return err
	}
	if name := cmd.String("out"); name != "" {
		return os.WriteFile(name, []byte(text), 0o644)
	}
	_, err = io.WriteString(out.stdout, text)
	return err
}

// projectGraph returns the graph of the installed project. unknown is set if origins did
// not answer; the graph is usable then.
func projectGraph(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) (g graph.Graph, unknown, err error) {
	if dir, empty := withoutConfiguration(ctx, req); empty {
		return g, nil, noConfigurationError{dir}
	}
	req.BestEffort = true
	b := &graphBuilder{allProviders: showsProviders(cmd)}
	result, err := loadTree(ctx, cmd, out, req, b.allProviders)
	if err != nil {
		return g, nil, err
	}
	if b.Title, err = titleOf(req); err != nil {
		return g, nil, err
	}
	b.addModules(result)
	b.addProviders(result.Providers)
	report, err := localInstaller(cmd, out).Verify(ctx, req)
	switch {
	case errors.Is(err, fs.ErrNotExist): // there is no lock
	case err != nil:
		return g, nil, err
	default:
		lock, err := newLockReader(req).read(ctx, result.LockFile)
		if err != nil {
			return g, nil, err
		}
		b.addLocked(lock)
		if b.allProviders && len(result.Unresolved) > 0 { // modules that cannot be read may require them
			b.addLockedProviders(lock)
		}
		b.addReport(report)
	}
	if err := addDiff(ctx, cmd, req, b); err != nil {
		return g, nil, err
	}
	if !cmd.Bool("outdated") && !cmd.Bool("remote") {
		return b.Graph, nil, nil
	}
	unknown, err = addOrigins(ctx, cmd, out, req, b)
	return b.Graph, unknown, err
}

// titleOf returns the name of the directory of a request.
func titleOf(req cotter.Request) (string, error) {
	dir, err := filepath.Abs(cmp.Or(req.Dir, "."))
	return filepath.Base(dir), err
}

// addOrigins marks newer versions and moved origins. unknown is set if origins did not
// answer.
func addOrigins(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, b *graphBuilder) (unknown, err error) {
	in, err := installer(ctx, cmd, out, req)
	if err != nil {
		return nil, err
	}
	in, done, err := in.Share()
	if err != nil {
		return nil, err
	}
	defer done()
	in.OnEvent = out.warning
	var unanswered []error
	if cmd.Bool("outdated") {
		req := req
		if b.allProviders {
			req.Providers = &cotter.Providers{}
		}
		list, err := in.Outdated(ctx, req)
		if list != nil {
			b.addOutdated(list.Modules)
			b.addOutdatedProviders(list.Providers)
		}
		unanswered = append(unanswered, err)
	}
	if cmd.Bool("remote") {
		origins, err := in.VerifyRemote(ctx, req)
		unanswered = append(unanswered, err)
		if origins == nil {
			origins = &cotter.OriginReport{}
		}
		for _, o := range origins.Modules {
			unanswered = append(unanswered, o.Err)
			if o.Err == nil && o.Moved() {
				b.mark(o.Path.String(), graph.Moved, movedText(o))
			}
		}
	}
	return errors.Join(unanswered...), nil
}

// movedText describes how an origin differs from the lock.
func movedText(o cotter.ModuleOrigin) string {
	name := comparedName(o)
	if name == "" {
		return "the archive has other content now"
	}
	return fmt.Sprintf("%s %s -> %s", name, short(o.Locked), short(o.Now))
}

// addDiff marks the differences between the lock that --diff names and the project's lock.
func addDiff(ctx context.Context, cmd *cli.Invocation, req cotter.Request, b *graphBuilder) error {
	if cmd.String("diff") == "" {
		return nil
	}
	reader := newLockReader(req)
	old, err := reader.read(ctx, cmd.String("diff"))
	if err != nil {
		return err
	}
	updated, err := reader.read(ctx, reader.dir)
	if err != nil {
		return err
	}
	b.Old, b.New = cmd.String("diff"), reader.lockFile
	b.addChanges(lockfile.Compare(old, updated))
	return nil
}

// lockGraph returns the graph of the lock that the argument names, compared with the lock
// that --diff names. It has only calls with lock entries, so local modules are missing.
func lockGraph(ctx context.Context, cmd *cli.Invocation, req cotter.Request) (graph.Graph, error) {
	reader := newLockReader(req)
	old, err := reader.read(ctx, cmd.String("diff"))
	if err != nil {
		return graph.Graph{}, err
	}
	updated, err := reader.read(ctx, cmd.Arg(0))
	if err != nil {
		return graph.Graph{}, err
	}
	b := &graphBuilder{allProviders: showsProviders(cmd)}
	if b.Title, err = titleOf(req); err != nil {
		return graph.Graph{}, err
	}
	b.Old, b.New = cmd.String("diff"), cmd.Arg(0)
	for _, m := range updated.Modules() {
		b.add(lockedNode(m))
	}
	if b.allProviders {
		b.addLockedProviders(updated)
	}
	b.addChanges(lockfile.Compare(old, updated))
	return b.Graph, nil
}

// lockedNode returns the node for a lock entry.
func lockedNode(m lockfile.Module) graph.Module {
	return graph.Module{Key: m.Key, Source: addrs.Redact(m.Source), Version: m.Version, Constraint: m.Constraints, Package: packageOf(m.Package)}
}

// packageOf returns the address of a package without the directory in the package, and
// without credentials.
func packageOf(address string) string {
	pkg, _ := addrs.SplitSubdir(address)
	return addrs.Redact(pkg)
}

// graphRecord is the output of graph.
type graphRecord struct{ graph.Graph }

func (graphRecord) kind() string { return "graph" }

// jsonGraph returns the record for a graph. Its list of modules is never null.
func jsonGraph(g graph.Graph) record {
	g.Modules = append([]graph.Module{}, g.Modules...)
	return graphRecord{g}
}
