package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"golang.org/x/sync/errgroup"
)

// severalFlags returns more, and the flags of commands that can work on several projects.
func severalFlags(more ...addFlag) []addFlag {
	return append(more,
		toggle("recursive", "work on all root modules in and below the directories"),
		text("since", "work only on root modules that have changed since the git revision `REV`"),
	)
}

func severalProjects(cmd *invocation) bool {
	return len(dirArguments(cmd)) > 0 || cmd.Bool("recursive") || cmd.String("since") != ""
}

// dirArguments returns the arguments that are directories of projects. The command mirror also takes the
// address of a mirror. Update and tree also take keys and providers, so their directories begin with a dot or
// are absolute paths. The arguments of diff are locks.
func dirArguments(cmd *invocation) []string {
	return slices.DeleteFunc(cmd.Args(), func(arg string) bool {
		switch cmd.Name() {
		case updateName, treeName:
			return !strings.HasPrefix(arg, ".") && !filepath.IsAbs(arg)
		case diffName:
			return true
		}
		return strings.HasPrefix(arg, mirrorScheme)
	})
}

// selectedBy returns the arguments that select the same projects again, for another command.
func selectedBy(cmd *invocation) string {
	text := ""
	if cmd.Bool("recursive") {
		text += " --recursive"
	}
	if since := cmd.String("since"); since != "" {
		text += " --since " + view.ShellWord(since)
	}
	for _, dir := range dirArguments(cmd) {
		if !strings.HasPrefix(dir, ".") && !filepath.IsAbs(dir) {
			dir = "./" + dir // as in dirArguments of update
		}
		text += " " + view.ShellWord(dir)
	}
	return text
}

// forProjects calls run for each project that the command line selects, or for the one in --chdir.
func forProjects(ctx context.Context, cmd *invocation, out *output, run func(ctx context.Context, out *output, req request) error) error {
	req, err := newRequest(cmd, out.Env)
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
		req, err := applySettings(cmd, out.Env, req)
		if err != nil {
			return err
		}
		return run(ctx, out, req)
	})
}

// withOrigins is forProjects with a session that asks each question only once.
func withOrigins(ctx context.Context, cmd *invocation, out *output, run func(ctx context.Context, in *installer.Installer, out *output, req request) error) error {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	in, err := newInstaller(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	in, done, err := installerinternal.Share(in)
	if err != nil {
		return err
	}
	defer done()
	return forProjectsWith(ctx, cmd, out, in, run)
}

// forProjectsWith prints the warnings of the installer with each project.
func forProjectsWith(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, run func(ctx context.Context, in *installer.Installer, out *output, req request) error) error {
	return forProjects(ctx, cmd, out, func(ctx context.Context, out *output, req request) error {
		req.OnEvent = out.warning
		req, err := inProject(ctx, in, req)
		if err != nil {
			return err
		}
		return run(ctx, in, out, req)
	})
}

// projectDirs returns the root modules that the command line selects. It says so if --since leaves out all.
func projectDirs(ctx context.Context, cmd *invocation, out *output, req request) ([]string, error) {
	collectSeldom()
	dirs, err := namedDirs(ctx, cmd, out, req)
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

// namedDirs is projectDirs without regard to --since.
func namedDirs(ctx context.Context, cmd *invocation, out *output, req request) ([]string, error) {
	var dirs []string
	for _, dir := range dirArguments(cmd) {
		dirs = append(dirs, view.Below(req.Dir, dir))
	}
	if len(dirs) == 0 {
		dirs = []string{cmp.Or(req.Dir, ".")}
	}
	if !cmd.Bool("recursive") {
		return dirs, nil
	}
	var roots []string
	for _, dir := range dirs {
		settings, err := repository.ReadSettings(out.Env, dir)
		if err != nil {
			return nil, err
		}
		found, err := repository.Roots(ctx, installer.New(installer.Options{}), dir, repository.RootsOptions{
			Dialect: req.Dialect, Exclude: settings.Exclude, LeftOut: func(name, why string) { out.leftOut(view.Below(dir, name), why) },
		})
		if err != nil {
			return nil, err
		}
		roots = append(roots, found...)
	}
	if roots = lists.Distinct(roots); len(roots) == 0 {
		hint := ""
		if slices.ContainsFunc(dirs, func(dir string) bool { unit, _ := advice.LookBelow(dir); return unit }) {
			hint = advice.UseHook
		}
		return nil, advice.Hinted(fmt.Errorf("there is no root module in or below %s", view.Alternatives(dirs)), hint)
	}
	return roots, nil
}

// leftOut says with --verbose that there may be root modules in a directory that are not looked for.
func (o *output) leftOut(dir, why string) {
	if o.verbose {
		o.printf("%s is left out: %s\n", dir, why)
	}
}

func installAll(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, req request) error {
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	if dirs, err = withConfiguration(ctx, out, dirs, req); err != nil || len(dirs) == 0 {
		return err
	}
	mirrors := newMirrors(cmd, out, in)
	projects, failures := projectsIn(cmd, out.Env, req, dirs, func(req request) (request, error) {
		if err := checkSecondLock(ctx, req); err != nil {
			return req, err
		}
		req, err := inProject(ctx, in, req)
		if err != nil {
			return req, err
		}
		return mirrors.inRequest(ctx, req)
	})
	writes, seen := &writer{cmd: cmd, out: out, in: in, req: req}, make(map[string]*tally)
	var warnings originWarnings
	take := func(dir string, event installer.Event) {
		writes.note(event)
		if out.json || !warnings.take(dir, event) {
			out.projectEvent(dir, event)
		}
	}
	for i, dir := range dirs {
		own := newTally()
		seen[dir] = own
		projects[i].OnEvent = func(event installer.Event) {
			own.event(event)
			take(dir, event)
		}
	}
	results, installed, err := installUsable(ctx, in, req.InstallOptions, projects, failures)
	warnings.print(out)
	writes.write(ctx, installed...)
	stale := make([]error, len(dirs))
	if err == nil && cmd.Bool("check") {
		for i, result := range results {
			stale[i] = out.checkLock(dirs[i], result)
		}
	}
	err = errors.Join(err, out.projects(done(req), dirs, results, stale, seen))
	for i, one := range stale {
		if advice.Is[*installer.OutsideError](one) {
			err = errors.Join(err, &installer.ProjectError{Dir: dirs[i], Err: one})
			continue
		}
		err = cmp.Or(err, one) // once for all
	}
	return err
}

// installUsable installs the projects without a failure. The results are in the order of projects, installed
// has those with a result, and the error joins all failures.
func installUsable(ctx context.Context, in *installer.Installer, o installer.InstallOptions, projects []installer.Project, failures []error) (results []*installer.Result, installed []installer.Project, err error) {
	var usable []installer.Project
	var at []int
	for i, p := range projects {
		if failures[i] == nil {
			usable, at = append(usable, p), append(at, i)
		}
	}
	results = make([]*installer.Result, len(projects))
	found, err := in.InstallAll(ctx, usable, o)
	for i, result := range found {
		if results[at[i]] = result; result != nil {
			installed = append(installed, usable[i])
		}
	}
	return results, installed, errors.Join(errors.Join(failures...), err)
}

// projectEvent prints an event in one of several projects; as text only warnings.
func (o *output) projectEvent(dir string, ev installer.Event) {
	if o.json {
		if value := o.jsonEvent(dir, ev); value != nil {
			_ = o.writeProjectJSON(dir, value) // writing the result will return the error
		}
		return
	}
	if warning, ok := ev.(event.Warning); ok {
		o.printWarning(dir, warning)
	}
}

// projects prints the results of several projects, nil for those that failed, and a summary. stale says what is
// wrong with their locks nevertheless, and seen has their tallies by directory.
func (o *output) projects(done string, dirs []string, results []*installer.Result, stale []error, seen map[string]*tally) error {
	all, whole, succeeded := &installer.Result{}, newTally(), 0
	var changed projectOutcomes
	for i, result := range results {
		own := seen[dirs[i]]
		whole.add(own)
		if result == nil {
			continue
		}
		succeeded++
		all.Modules = append(all.Modules, result.Modules...)
		all.Providers = append(all.Providers, result.Providers...)
		all.LockChanges = append(all.LockChanges, result.LockChanges...)
		all.Refetched, all.Dialect = append(all.Refetched, result.Refetched...), result.Dialect
		if o.json {
			if err := o.writeResult(dirs[i], records.ResultOf(done, result), stale[i]); err != nil {
				return err
			}
			continue
		}
		changed = append(changed, projectOutcome{dirs[i], result, o.outcomesOf(dirs[i], result, own)})
	}
	if succeeded > 0 {
		o.whenInterrupted = "Interrupted; no other project was changed."
	}
	if o.json {
		return nil
	}
	changed.print(o)
	if o.quiet || succeeded == 0 {
		return nil
	}
	if !changed.any() && succeeded == len(dirs) {
		o.printf("%s with %s up to date in %s\n", view.Count(len(dirs), "project"), total(all), o.elapsed())
		o.refetched(all)
		return nil
	}
	text := fmt.Sprintf("%d of %s %s in %s: %s", succeeded, view.Count(len(dirs), "project"), done, o.elapsed(), total(all))
	if fetched := whole.fetchedText(); fetched != "" {
		text += "; " + fetched
	}
	if failed := len(dirs) - succeeded; failed > 0 {
		text += fmt.Sprintf("; %d failed", failed)
	}
	o.printf("%s.\n", text)
	if changed.any() && !o.verbose {
		o.printf("--verbose lists the modules and providers of each project.\n")
	}
	o.inUse("Locked what was in use", all)
	o.refetched(all)
	return nil
}

// changedSince needs all projects in the repository of the first one.
func changedSince(ctx context.Context, dirs []string, rev string, req request) ([]string, error) {
	files, err := repository.ChangedFiles(ctx, dirs[0], rev)
	if errors.Is(err, repository.ErrNoRepository) {
		return nil, fmt.Errorf("--since %s: the directory %q is not in a git repository", rev, dirs[0])
	}
	if err != nil {
		return nil, fmt.Errorf("--since: %w", err)
	}
	return repository.ChangedRoots(ctx, installer.New(installer.Options{}), dirs, files, req.Project)
}

// projectsAtOnce limits the projects at a time. Each of them processes many packages at a time.
const projectsAtOnce = 8

// inProjects calls run for each of several projects with an output of its own, printed below the name of the
// directory, in the order of dirs. A failure, which is an *installer.ProjectError, does not affect others.
func (o *output) inProjects(ctx context.Context, dirs []string, run func(ctx context.Context, out *output, dir string) error) error {
	sections, failures := make([]*section, len(dirs)), make([]error, len(dirs))
	for i, dir := range dirs {
		sections[i] = newSection(o, dir)
	}
	var group errgroup.Group
	group.SetLimit(projectsAtOnce)
	go func() {
		for i, s := range sections {
			group.Go(func() error {
				defer close(s.done)
				if err := s.end(run(ctx, s.output, dirs[i])); err != nil {
					failures[i] = &installer.ProjectError{Dir: dirs[i], Err: err}
				}
				return nil // other projects continue
			})
		}
	}()
	for _, s := range sections {
		<-s.done
		if err := s.print(o); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

const sectionIndent = "    "

type section struct {
	*output
	stdout, stderr bytes.Buffer
	done           chan struct{} // closed when the section is complete
}

func newSection(o *output, dir string) *section {
	s := &section{done: make(chan struct{})}
	own := *o
	own.stdout, own.stderr, own.Project, own.conclusion = &s.stdout, &s.stderr, dir, ""
	own.columns = max(own.columns-len(sectionIndent), 0)
	s.output = &own
	return s
}

// print indents all lines of text below the project's directory. In JSON each value names its project.
func (s *section) print(o *output) error {
	if _, err := o.stderr.Write(s.stderr.Bytes()); err != nil {
		return err
	}
	text := s.stdout.String()
	if o.json {
		_, err := o.stdout.Write([]byte(text))
		return err
	}
	text = strings.Trim(text, "\n")
	if text == "" && s.conclusion == "" {
		return nil // it failed, and the error says why
	}
	o.printf("%s\n", strings.TrimSpace("- "+s.Project+": "+s.conclusion))
	if text != "" {
		o.printf("%s%s\n", sectionIndent, view.Lines(strings.ReplaceAll(text, "\n", "\n"+sectionIndent)))
	}
	return nil
}

// conclude prints the result for a whole project, as the heading of its section if there are several.
func (o *output) conclude(text string) {
	if o.Project != "" {
		o.conclusion = text
		return
	}
	o.notef("%s\n", text)
}
