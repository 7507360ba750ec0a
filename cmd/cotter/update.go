package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/spf13/cobra"

	configedit "github.com/cotterpin/cotter/installer/edit"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/versions"
)

// updateName is a command whose arguments are also names: see dirArguments.
const updateName = "update"

func updateCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   updateName + " [KEY|PROVIDER|DIR...]",
		Short: "update to the newest versions that the constraints allow",
		Long: "Updates the module calls with the given keys, such as network.subnets, and the\n" +
			"providers with the given addresses, such as hashicorp/aws. Without arguments it updates\n" +
			"everything. The rest of the lock does not change. For each module that changes, it\n" +
			"lists what changes for the caller: variables, outputs and providers.\n" +
			"\n" +
			"If a version, a version tag or an address has other content than the lock, that is an\n" +
			"error for a call that is named, and otherwise a warning: what is locked stays.\n" +
			"\n" +
			"Tags in source addresses, such as \"?ref=v1.2.0\", and version constraints do not change;\n" +
			"newer versions are only reported. With --edit they are first written into the\n" +
			"configuration: \"~> 1.2.0\" becomes \"~> 1.3.0\". Another major version is written only for\n" +
			"a call that is named, and reported only for such a call or if the lock changes.\n" +
			"\n" +
			"Arguments that begin with a dot or are absolute paths are directories of projects:\n" +
			"`cotter update network ./envs/dev`. If there are several projects, those that do not\n" +
			"have a given call or provider do not change.",
	}, func(ctx context.Context, cmd *invocation, out *output) error {
		req, err := newRequest(cmd, out.Env)
		if err != nil {
			return err
		}
		setUpdates(cmd, &req)
		req.Update.AllowDowngrade = cmd.Bool("allow-downgrade")
		req.Update.AcceptChanged = modulePaths(cmd.Strings("accept-changed"))
		if to := cmd.String("to"); to != "" {
			if len(req.Update.Keys)+len(req.Update.Providers) != 1 {
				return usageError{errors.New("--to needs the key of one call or the address of one provider, as in `cotter update network --to 1.2.0`")}
			}
			if req.Update.To, err = versions.Parse(to); err != nil {
				return err
			}
		}
		if cmd.Bool("edit") && cmd.Bool("offline") {
			return usageError{errors.New("--edit and --offline cannot be used together: the origins have the newer versions")}
		}
		if cmd.Bool("edit") && !req.Update.To.IsZero() && severalProjects(cmd) {
			return usageError{errors.New("--edit with --to edits the files of one project")}
		}
		return runUpdate(ctx, cmd, out, req)
	}, configFlags(severalFlags(append(lockFlags(), dryRunFlag(),
		text("to", "update the one call or provider to `VERSION`; the constraint must allow it, or is changed by --edit"),
		texts("accept-changed", "accept other content under the same version, tag or address for the call `KEY`; can be repeated"),
		toggle("allow-downgrade", "allow a lower version than the locked one"),
		toggle("edit", "write newer versions into the tags and constraints of calls"),
	)...)...))
}

func runUpdate(ctx context.Context, cmd *invocation, out *output, req request) error {
	run := install
	switch dir, empty := withoutConfiguration(ctx, req); {
	case severalProjects(cmd):
		run = installAll
	case empty:
		return advice.NoConfigurationError{Dir: dir}
	}
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	in, done, err := installerinternal.Share(in) // what is edited, installed and proposed depends on the same answers
	if err != nil {
		return err
	}
	defer done()
	hasPins := req.Update.All || len(req.Update.Keys) > 0 // and not only providers
	if cmd.Bool("edit") && hasPins {
		pins, err := editPins(ctx, cmd, out, in, req)
		if err != nil {
			return err
		}
		for _, pin := range slices.Concat(slices.Collect(maps.Values(pins))...) {
			if pin.Argument != "version" {
				req.Update.To = versions.Version{} // the tag decides now
			}
		}
		if req.DryRun {
			req.edits, req.Edited = pins, pins[req.Dir]
		}
	}
	if err := explainNames(ctx, cmd, out, req, run(ctx, cmd, out, in, req)); err != nil || out.json || cmd.Bool("offline") || !hasPins {
		return err
	}
	return proposePins(ctx, cmd, out, in, req.edits)
}

// setUpdates reads the arguments that are not directories: with a slash they are addresses of providers,
// otherwise keys of module calls.
func setUpdates(cmd *invocation, req *request) {
	dirs := dirArguments(cmd)
	req.Update.All = cmd.NArg() == len(dirs)
	for _, arg := range cmd.Args() {
		if slices.Contains(dirs, arg) {
			continue
		}
		if strings.Contains(arg, "/") {
			req.Update.Providers = append(req.Update.Providers, arg)
			continue
		}
		req.Update.Keys = append(req.Update.Keys, modulePath(arg))
	}
}

// modulePath keeps names that no call can have, so that messages show what the user has written.
func modulePath(key string) addrs.Module {
	if key == "" {
		return nil
	}
	return strings.Split(key, ".")
}

func modulePaths(keys []string) []addrs.Module { return lists.Map(keys, modulePath) }

// explainNames adds a sentence to an error about a name that cannot be updated, with similar names.
func explainNames(ctx context.Context, cmd *invocation, out *output, req request, err error) error {
	if !errors.Is(err, installer.ErrNoSuchCall) && !errors.Is(err, installer.ErrNoSuchProvider) {
		return err
	}
	named := req.Update
	if severalProjects(cmd) {
		return advice.Hinted(err, directoryHint(req.Dir, named.Keys, named.Providers))
	}
	calls, loadErr := localInstaller(&output{stderr: out.stderr, Run: advice.Run{Env: out.Env}, quiet: true}).Load(ctx, req.Project, installer.LoadOptions{BestEffort: true})
	if loadErr != nil {
		return err
	}
	var names []string
	if providers, err := loadProviders(ctx, cmd, out, req); err == nil {
		for _, p := range providers {
			names = append(names, p.Address.ForDisplay())
		}
	}
	for _, path := range slices.Concat(named.Keys, named.AcceptChanged) {
		if explained := explainKey(calls, path.String(), names, directoryHint(req.Dir, []addrs.Module{path}, nil)); explained != nil {
			return explained
		}
	}
	for _, name := range named.Providers {
		if hint := providerHint(name, names); hint != "" {
			return advice.Hinted(err, hint)
		}
	}
	return advice.Hinted(err, directoryHint(req.Dir, nil, named.Providers))
}

// providerHint is about a name that no module requires. Without a host it resembles providers of all hosts.
func providerHint(name string, providers []string) string {
	var similar []string
	for _, full := range providers {
		parts := strings.Split(full, "/")
		short := strings.Join(parts[max(len(parts)-2, 0):], "/")
		if short == name || len(view.Nearest(name, []string{short, full})) > 0 {
			similar = append(similar, full)
		}
	}
	if slices.Contains(providers, name) {
		return ""
	}
	return view.DidYouMean(similar[:min(len(similar), view.MaxSuggested)])
}

// directoryHint is for a name that is a directory: only arguments that begin with a dot or are absolute are.
func directoryHint(dir string, keys []addrs.Module, providers []string) string {
	for _, name := range slices.Concat(lists.Map(keys, addrs.Module.String), providers) {
		if view.IsDir(filepath.Join(dir, name)) {
			return fmt.Sprintf("%s is a directory here: write `./%[1]s` to update the projects in it.", name)
		}
	}
	return ""
}

// explainKey returns an error about a key that has no lock entry, or nil. directory is a hint for a key that is one.
func explainKey(calls *installer.Result, key string, providers []string, directory string) error {
	var own, below []string // the keys with an entry, and those of them that are below key
	known := map[string]bool{}
	for _, m := range calls.Modules {
		known[m.Path.String()] = true
		if m.Package.IsZero() {
			continue
		}
		own = append(own, m.Path.String())
		if strings.HasPrefix(m.Path.String(), key+".") {
			below = append(below, m.Path.String())
		}
	}
	for _, u := range calls.Unresolved { // not installed
		if !known[u.Path.String()] {
			own = append(own, u.Path.String())
		}
	}
	switch {
	case slices.Contains(own, key):
		return nil
	case !known[key]:
		var ending []string // the calls of this name in modules
		for _, k := range own {
			if strings.HasSuffix(k, "."+key) {
				ending = append(ending, k)
			}
		}
		hint := cmp.Or(directory, view.DidYouMean(ending), view.DidYouMean(view.Nearest(key, own)))
		for _, name := range providers {
			if hint == "" && len(view.Nearest(key, []string{path.Base(name)})) > 0 || key == path.Base(name) {
				hint = fmt.Sprintf("Did you mean the provider %s?", name)
			}
		}
		return advice.Hinted(fmt.Errorf("there is no module call %s", key), cmp.Or(hint, "Run `cotter tree` to see the keys."))
	}
	what := "is a local module and is not locked"
	if i := strings.LastIndexByte(key, '.'); i > 0 && len(below) == 0 {
		for _, owner := range own {
			if strings.HasPrefix(key, owner+".") {
				what, below = "is part of the package of "+owner, []string{owner}
			}
		}
	}
	hint := ""
	if len(below) > 0 {
		hint = "Try " + view.Alternatives(below) + "."
	}
	return advice.Hinted(fmt.Errorf("%s %s", key, what), hint)
}

const writePinned = "`cotter update{dir} --edit%s` writes them into the files; add the KEY of a call for another major version."

func newerThan(pin installer.Pin) string {
	latest := pin.LatestValue
	if pin.Argument == "version" {
		latest = pin.LatestVersion.String()
	}
	text := fmt.Sprintf("%s is %s, and the newest is %s", pin.Argument, pin.Value, latest)
	if pin.LatestValue == "" {
		text += "; only single conditions with ~>, = or >= are edited"
	}
	return text
}

func (o *output) proposals(pins []installer.Pin) {
	pins = slices.DeleteFunc(slices.Clone(pins), func(pin installer.Pin) bool { return !pin.Outdated() })
	if len(pins) == 0 {
		return
	}
	if o.Project == "" {
		o.printf("\n")
	}
	for _, pin := range pins {
		end := ""
		if len(pins) == 1 && pin.LatestValue != "" {
			end = o.RemedyIn(o.Project, "; `cotter update{dir} {keys} --edit` writes it into the file", pin.Path.String())
		}
		o.printf("%s (%s): %s%s\n", pin.Path, o.Place("", pin.Range), newerThan(pin), end)
	}
	if len(pins) > 1 && o.Project == "" {
		o.printf("%s\n", o.RemedyIn(o.Project, fmt.Sprintf(writePinned, "")))
	}
}

// proposeForProjects prints the outdated pins of projects by directory, each once. selected are the arguments that
// selected the projects.
func (o *output) proposeForProjects(found map[string][]installer.Pin, selected string) {
	type proposal struct{ source, value, newer string }
	var uses []use[proposal]
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		for _, pin := range found[dir] {
			if !pin.Outdated() {
				continue
			}
			uses = append(uses, use[proposal]{proposal{records.SourceName(pin.Call.Source), pin.Value, newerThan(pin)}, dir, o.Place(dir, pin.Range)})
		}
	}
	if len(uses) == 0 {
		return
	}
	o.printf("\n")
	for _, same := range mostFirst(uses, func(a, b proposal) int {
		return cmp.Or(strings.Compare(a.source, b.source), strings.Compare(a.value, b.value))
	}) {
		o.printf("%s: %s (%s)\n", same[0].of.source, same[0].of.newer, whereUsed(same))
	}
	o.printf("%s\n", o.RemedyIn(o.Project, fmt.Sprintf(writePinned, selected)))
}

// editPins writes newer versions into configurations, and returns the pins that the request updates as they
// were, by the directories of projects. It edits one project after another, because they can share modules.
func editPins(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, req request) (map[string][]installer.Pin, error) {
	dirs := []string{req.Dir}
	if severalProjects(cmd) {
		var err error
		if dirs, err = projectDirs(ctx, cmd, out, req); err != nil {
			return nil, err
		}
	}
	req.OnEvent = out.warning
	all := make(map[string][]installer.Pin)
	for _, dir := range dirs {
		req.Dir = dir
		req, err := applySettings(cmd, out.Env, req)
		if err != nil {
			return nil, err
		}
		pins, err := in.Pins(ctx, req.Project, installer.PinOptions{Keys: req.Update.Keys, All: req.Update.All, To: req.Update.To, AllowDowngrade: req.Update.AllowDowngrade})
		if err != nil {
			return nil, err
		}
		all[dir] = pins
		if err := writePins(ctx, req, pins); err != nil {
			return nil, err
		}
		if !req.DryRun {
			out.whenInterrupted = "Interrupted; the configuration was edited, but nothing else was changed."
		}
		if err := out.edited(pins, dir, req.DryRun); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// writePins changes no file if a pin cannot be edited, or in a dry run.
func writePins(ctx context.Context, req request, pins []installer.Pin) error {
	files, err := configedit.Files(ctx, req.Dir, configedit.Changes{Pins: pins})
	if err != nil || req.DryRun {
		return err
	}
	for _, f := range files {
		if err := atomicfile.WriteFile(filepath.Join(req.Dir, filepath.FromSlash(f.Name)), f.New, atomicfile.Options{Swap: true, Old: f.Old}); err != nil {
			return err
		}
	}
	return nil
}

// edited prints the values that were written, or would be without --dry-run.
func (o *output) edited(pins []installer.Pin, dir string, dryRun bool) error {
	for _, pin := range pins {
		if !pin.Outdated() || pin.LatestValue == "" {
			continue
		}
		at := pin.Range
		if o.json {
			err := o.writeProjectJSON(dir, records.Edited{Key: pin.Path.String(), File: at.Filename, Line: at.Start.Line, Old: pin.Value, New: pin.LatestValue, DryRun: dryRun})
			if err != nil {
				return err
			}
			continue
		}
		what := "edited"
		if dryRun {
			what = "would be edited"
		}
		o.printf("%s  %s  %s %s -> %s (%s)\n", what, pin.Path, pin.Argument, pin.Value, pin.LatestValue, o.Place(dir, at))
	}
	return nil
}

// proposePins prints the outdated pins that an update did not change, and a dry run with edits would not change.
// It was successful, so errors of origins are only warnings.
func proposePins(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, edits map[string][]installer.Pin) error {
	var mu sync.Mutex
	found := make(map[string][]installer.Pin)
	several := severalProjects(cmd)
	err := forProjectsWith(ctx, cmd, out, in, func(ctx context.Context, in *installer.Installer, out *output, req request) error {
		setUpdates(cmd, &req)
		req.Edited = edits[req.Dir]
		pins, err := in.Pins(ctx, req.Project, installer.PinOptions{Keys: req.Update.Keys}) // with newer major versions
		if err != nil {
			for _, m := range advice.Messages(err) {
				out.warnf("%s", out.Placed(m).Item())
			}
		}
		if !several {
			out.proposals(slices.DeleteFunc(pins, func(pin installer.Pin) bool {
				return pin.OtherMajor() && !out.relocked && !slices.ContainsFunc(req.Update.Keys, func(named addrs.Module) bool { return named.String() == pin.Path.String() })
			}))
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		found[req.Dir] = pins
		return nil
	})
	if several && !out.quiet {
		out.proposeForProjects(found, selectedBy(cmd))
	}
	return err
}
