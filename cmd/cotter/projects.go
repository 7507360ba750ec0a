package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// severalFlags are those of every command that works on several projects.
func severalFlags(more ...*cli.Flag) []*cli.Flag {
	return append(more,
		&cli.Flag{Name: "recursive", Usage: "work on all root modules in and below the directories"},
		&cli.Flag{Name: "since", Type: cli.String, Usage: "work only on root modules that have changed since the git revision `REV`"},
	)
}

// severalProjects reports whether the command line names directories of projects, or
// asks for them.
func severalProjects(cmd *cli.Invocation) bool {
	return len(dirArguments(cmd)) > 0 || cmd.Bool("recursive") || cmd.String("since") != ""
}

// dirArguments are the arguments that are directories of projects. The others of
// update, which has such, never look like paths from here or from the root; those of
// mirror are the address of one.
func dirArguments(cmd *cli.Invocation) []string {
	dirs := slices.DeleteFunc(cmd.Args(), func(arg string) bool { return strings.HasPrefix(arg, mirrorScheme) })
	if cmd.Command.Name == updateName {
		dirs = slices.DeleteFunc(dirs, func(arg string) bool { return !strings.HasPrefix(arg, ".") && !filepath.IsAbs(arg) })
	}
	return dirs
}

// forProjects runs a command for the project that the flags name, or for each of
// those that the command line names.
func forProjects(ctx context.Context, cmd *cli.Invocation, out *output, run func(ctx context.Context, out *output, req cotter.Request) error) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	if !severalProjects(cmd) {
		return run(ctx, out, req)
	}
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	return out.inProjects(ctx, dirs, func(ctx context.Context, out *output, dir string) error {
		req := req
		req.Dir = dir
		req, err := applySettings(cmd, req)
		if err != nil {
			return err
		}
		return run(ctx, out, req)
	})
}

// withOrigins is forProjects for commands that ask origins: each thing once, whichever
// of the projects need it.
func withOrigins(ctx context.Context, cmd *cli.Invocation, out *output, run func(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request) error) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	in, err := installer(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	in, done, err := in.Share()
	if err != nil {
		return err
	}
	defer done()
	return forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req cotter.Request) error {
		in := *in
		in.OnEvent = out.warning
		return run(ctx, &in, out, req)
	})
}

// projectDirs are the root modules that the command line names: none if --since leaves
// out all of them, which is said here.
func projectDirs(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) ([]string, error) {
	collectSeldom()
	dirs, err := namedDirs(ctx, cmd, req)
	if err != nil || cmd.String("since") == "" {
		return dirs, err
	}
	changed, err := changedSince(ctx, dirs, cmd.String("since"), req)
	switch {
	case err != nil || len(changed) > 0 || out.json:
	case len(dirs) == 1:
		out.printf("The project has not changed since %s.\n", cmd.String("since"))
	default:
		out.printf("None of %d projects has changed since %s.\n", len(dirs), cmd.String("since"))
	}
	return changed, err
}

// namedDirs are the root modules that the command line names, changed or not.
func namedDirs(ctx context.Context, cmd *cli.Invocation, req cotter.Request) ([]string, error) {
	var dirs []string
	for _, dir := range dirArguments(cmd) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(req.Dir, dir)
		}
		dirs = append(dirs, dir)
	}
	if len(dirs) == 0 {
		dirs = []string{cmp.Or(req.Dir, ".")}
	}
	if !cmd.Bool("recursive") {
		return dirs, nil
	}
	var roots []string
	for _, dir := range dirs {
		found, err := (&cotter.Installer{}).Roots(ctx, dir, req.Dialect)
		if err != nil {
			return nil, err
		}
		roots = append(roots, found...)
	}
	slices.Sort(roots)
	if roots = slices.Compact(roots); len(roots) == 0 {
		return nil, fmt.Errorf("there is no root module in or below %s", alternatives(dirs))
	}
	return roots, nil
}

// installAll installs several projects and prints a line for each.
func installAll(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) error {
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if dirs, err = withConfiguration(out, dirs, req); err != nil || len(dirs) == 0 {
		return err
	}
	mirrors := newMirrors(cmd, out, in)
	req.ForDir = func(req cotter.Request) (cotter.Request, error) {
		req, err := applySettings(cmd, req)
		if err == nil {
			err = checkSecondLock(req)
		}
		if err != nil {
			return req, err
		}
		return mirrors.inRequest(ctx, req)
	}
	writes, seen := &writer{cmd: cmd, out: out, in: in, req: req}, make(map[string]*tally)
	for _, dir := range dirs {
		seen[dir] = newTally()
	}
	results, err := in.InstallAll(ctx, dirs, req, func(dir string, event cotter.Event) {
		if seen[dir] != nil {
			seen[dir].event(event)
		}
		writes.note(event)
		out.projectEvent(dir, event)
	})
	writes.write(ctx, installedDirs(dirs, results)...)
	if cmd.Bool("markdown") {
		out.updatesMarkdown(dirs, results)
		return err
	}
	err = errors.Join(err, out.projects(done(req), dirs, results, seen))
	if err == nil && cmd.Bool("check") && slices.ContainsFunc(results, wouldChange) {
		return errLockWouldChange
	}
	return err
}

// installedDirs returns the directories of the projects that did not fail.
func installedDirs(dirs []string, results []*cotter.Result) (installed []string) {
	for i, result := range results {
		if result != nil {
			installed = append(installed, dirs[i])
		}
	}
	return installed
}

// projectEvent prints what happens in one of several projects: everything as
// JSON, nothing but warnings for people.
func (o *output) projectEvent(dir string, event cotter.Event) {
	if o.json {
		if value := jsonEvent(event); value != nil {
			_ = o.writeProjectJSON(dir, value) // a closed stdout shows at the end
		}
		return
	}
	if warning, ok := event.(cotter.Warning); ok {
		o.warnf("%s: %s", dir, warningText(warning))
	}
}

// projects prints what came of several projects, nil where one failed.
func (o *output) projects(done string, dirs []string, results []*cotter.Result, seen map[string]*tally) error {
	all, whole, succeeded, changed := &cotter.Result{}, newTally(), 0, false
	for i, result := range results {
		own := seen[dirs[i]]
		whole.add(own)
		if result == nil {
			continue
		}
		succeeded++
		all.Modules = append(all.Modules, result.Modules...)
		all.Providers = append(all.Providers, result.Providers...)
		list := outcomesOf(result, own)
		changed = changed || len(list) > 0
		if err := o.projectDone(done, dirs[i], result, list); err != nil {
			return err
		}
	}
	if succeeded > 0 {
		o.whenInterrupted = "Interrupted; no other project was changed."
	}
	if o.json || o.quiet || succeeded == 0 {
		return nil
	}
	if !changed && succeeded == len(dirs) {
		o.printf("%s with %s up to date in %s\n", count(len(dirs), "project"), total(all), o.elapsed())
		return nil
	}
	text := fmt.Sprintf("%d of %s %s in %s: %s", succeeded, count(len(dirs), "project"), done, o.elapsed(), total(all))
	if fetched := whole.fetchedText(); fetched != "" {
		text += "; " + fetched
	}
	o.printf("%s.\n", text)
	return nil
}

// projectDone prints what came of one of several projects, if it is not as before.
func (o *output) projectDone(done, dir string, result *cotter.Result, list []resultLine) error {
	switch {
	case o.json:
		return o.writeProjectJSON(dir, jsonResult(done, result))
	case o.quiet:
	case len(list) > 0:
		o.printf("- %s: %s\n", dir, counted(list))
		o.printOutcomes(list, "    ")
	case o.verbose:
		o.printf("- %s: up to date\n", dir)
	}
	for _, change := range result.Vendored {
		o.printf("    %s: %s\n", change.Dir, change.Kind)
	}
	return nil
}
