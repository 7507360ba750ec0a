package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
)

// severalFlags are those of every command that works on several projects.
func severalFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		&cli.BoolFlag{Name: "recursive", Usage: "work on all root modules in and below the directories"},
		&cli.StringFlag{Name: "since", Usage: "work only on root modules that have changed since the git revision `REV`"},
	)
}

// severalProjects reports whether the command line names directories of projects, or
// asks for them.
func severalProjects(cmd *cli.Command) bool {
	return len(dirArguments(cmd)) > 0 || cmd.Bool("recursive") || cmd.String("since") != ""
}

// dirArguments are the arguments that are directories of projects. The others of
// update, which has such, never look like paths from here or from the root; those of
// mirror are the address of one.
func dirArguments(cmd *cli.Command) []string {
	dirs := slices.DeleteFunc(cmd.Args().Slice(), func(arg string) bool { return strings.HasPrefix(arg, mirrorScheme) })
	if cmd.Name == updateName {
		dirs = slices.DeleteFunc(dirs, func(arg string) bool { return !strings.HasPrefix(arg, ".") && !filepath.IsAbs(arg) })
	}
	return dirs
}

// forProjects runs a command for the project that the flags name, or for each of
// those that the command line names.
func forProjects(ctx context.Context, cmd *cli.Command, out *output, run func(ctx context.Context, out *output, req cotter.Request) error) error {
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
func withOrigins(ctx context.Context, cmd *cli.Command, out *output, run func(ctx context.Context, in *cotter.Installer, out *output, req cotter.Request) error) error {
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
func projectDirs(ctx context.Context, cmd *cli.Command, out *output, req cotter.Request) ([]string, error) {
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
func namedDirs(ctx context.Context, cmd *cli.Command, req cotter.Request) ([]string, error) {
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
		return nil, fmt.Errorf("there is no root module in or below %q", dirs)
	}
	return roots, nil
}

// installAll installs several projects and prints a line for each.
func installAll(ctx context.Context, cmd *cli.Command, out *output, req cotter.Request) error {
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
	req.ForDir = func(req cotter.Request) (cotter.Request, error) {
		req, err := applySettings(cmd, req)
		if err == nil {
			err = checkSecondLock(req)
		}
		return req, err
	}
	fetched := 0
	results, err := in.InstallAll(ctx, dirs, req, func(dir string, event cotter.Event) {
		if _, ok := event.(cotter.FetchDone); ok {
			fetched++
		}
		out.projectEvent(dir, event)
	})
	if cmd.Bool("markdown") {
		out.updatesMarkdown(dirs, results)
		return err
	}
	err = errors.Join(err, out.projects(done(req), dirs, results, fetched))
	if err == nil && cmd.Bool("check") && slices.ContainsFunc(results, wouldChange) {
		return errLockWouldChange
	}
	return err
}

// inProject is an event with the directory of the project that it is about.
type inProject struct {
	Dir   string `json:"project"`
	Event any    `json:"event"`
}

// projectEvent prints what happens in one of several projects: everything as
// JSON, nothing but warnings for people.
func (o *output) projectEvent(dir string, event cotter.Event) {
	if o.json {
		if value := jsonEvent(event); value != nil {
			_ = o.writeJSON(inProject{dir, value}) // a closed stdout shows at the end
		}
		return
	}
	if warning, ok := event.(cotter.Warning); ok {
		o.warnf("%s: %s", dir, warningText(warning))
	}
}

// projects prints what came of several projects, nil where one failed.
func (o *output) projects(done string, dirs []string, results []*cotter.Result, fetched int) error {
	modules, installed := 0, 0
	for i, result := range results {
		if result == nil {
			continue
		}
		installed++
		modules += len(result.Modules)
		if err := o.projectDone(done, dirs[i], result); err != nil {
			return err
		}
	}
	if !o.json {
		o.printf("\n%d of %s %s: %s, %s fetched.\n", installed, count(len(dirs), "project"), done, count(modules, "module"), count(fetched, "package"))
	}
	return nil
}

// projectDone prints what came of one of several projects.
func (o *output) projectDone(done, dir string, result *cotter.Result) error {
	if o.json {
		return o.writeJSON(inProject{dir, jsonResult(done, result)})
	}
	o.printf("- %s: %s\n", dir, modulesFor(result))
	for _, change := range result.LockChanges {
		o.printf("    %s: %s\n", change.Key, changeText(change))
	}
	for _, change := range result.ProviderChanges {
		o.printf("    provider %s: %s\n", change.Provider.ForDisplay(), providerChangeText(change))
	}
	for _, change := range result.Vendored {
		o.printf("    %s: %s\n", change.Dir, change.Kind)
	}
	return nil
}
