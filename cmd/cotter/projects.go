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

// projectDirs are the root modules that the command line of install names.
func projectDirs(ctx context.Context, cmd *cli.Command, req cotter.Request) ([]string, error) {
	var dirs []string
	for _, dir := range cmd.Args().Slice() {
		if strings.HasPrefix(dir, mirrorScheme) {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(req.Dir, dir)
		}
		dirs = append(dirs, dir)
	}
	if !cmd.Bool("recursive") {
		return dirs, nil
	}
	if len(dirs) == 0 {
		dirs = []string{cmp.Or(req.Dir, ".")}
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
		return nil, fmt.Errorf("there is no configuration with module calls in or below %q", dirs)
	}
	return roots, nil
}

// installAll installs several projects and prints a line for each.
func installAll(ctx context.Context, cmd *cli.Command, out *output, req cotter.Request) error {
	in, err := prepareInstall(ctx, cmd, out, &req)
	if err != nil {
		return err
	}
	dirs, err := projectDirs(ctx, cmd, req)
	if err != nil {
		return err
	}
	if dirs, err = withConfiguration(out, dirs, req); err != nil || len(dirs) == 0 {
		return err
	}
	fetched := 0
	results, err := in.InstallAll(ctx, dirs, req, func(dir string, event cotter.Event) {
		if _, ok := event.(cotter.FetchDone); ok {
			fetched++
		}
		out.projectEvent(dir, event)
	})
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
		if err := o.project(done, dirs[i], result); err != nil {
			return err
		}
	}
	if !o.json {
		o.printf("\n%d of %s %s: %s, %s fetched.\n", installed, count(len(dirs), "project"), done, count(modules, "module"), count(fetched, "package"))
	}
	return nil
}

// project prints the done of one of several projects.
func (o *output) project(done, dir string, result *cotter.Result) error {
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
	return nil
}
