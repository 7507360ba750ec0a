package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
)

func cacheCommand(out *output) *cobra.Command {
	ofCache := func(name, usage string, run func(context.Context, *invocation, store.Cache) error, flags ...addFlag) *cobra.Command {
		return command(out, &cobra.Command{
			Use:   name,
			Short: usage,
		}, func(ctx context.Context, cmd *invocation, out *output) error {
			dir := cliconfig.OSEnvironment().CacheDir()
			if dir == "" {
				return errors.New("no cache directory is known: set COTTER_CACHE_DIR")
			}
			return run(ctx, cmd, store.Cache{
				Dir: dir, StateDir: cliconfig.OSEnvironment().StateDir(), StateKey: out.Env("COTTER_STATE_KEY"),
			})
		}, append([]addFlag{
			toggle("json", "print JSON"),
		}, flags...))
	}
	return command(out, &cobra.Command{
		Use:   "cache",
		Short: "inspect, check and clean the cache of fetched packages",
	}, nil, nil,
		ofCache("dir", "print the path of the cache directory", out.cacheDir),
		ofCache("size", "print the size of the cache", out.cacheSize),
		ofCache("verify", "hash every cached package and quarantine damaged ones", out.cacheVerify),
		ofCache("clean", "empty the cache, except for the providers that projects link to", out.cacheClean,
			text("older-than", "remove only packages that have not been used for `TIME`, such as 30d or 12h"),
			toggle("all", "also remove the providers that projects link to, and name these projects")),
		cacheKeyCommand(out),
	)
}

func (o *output) cacheDir(_ context.Context, _ *invocation, c store.Cache) error {
	if o.json {
		o.result(records.CacheDir{Dir: c.Dir})
		return nil
	}
	o.printf("%s\n", c.Dir)
	return nil
}

func (o *output) cacheSize(ctx context.Context, _ *invocation, c store.Cache) error {
	usage, err := c.Size(ctx)
	if err != nil {
		return err
	}
	projects, foreign, err := c.Projects(ctx, 0)
	if err != nil {
		o.warnf("%s", err)
	}
	if o.json {
		o.result(usageRecord(usage, projects, foreign))
		return nil
	}
	o.usage("", usage)
	if usage.Linked.Number > 0 {
		o.printf("%s (%s) in use by links in %s\n", view.Count(usage.Linked.Number, "provider"), megabytes(usage.Linked.Bytes), view.Count(len(projects), "project"))
	}
	return nil
}

func (o *output) cacheVerify(ctx context.Context, _ *invocation, c store.Cache) error {
	damaged, err := c.Verify(ctx)
	if err != nil {
		return err
	}
	if o.json {
		o.result(records.CacheVerified{Damaged: append([]string{}, damaged...)})
	}
	if len(damaged) > 0 {
		return fmt.Errorf("damaged packages in the cache were set aside: %s; they are fetched again when needed", strings.Join(damaged, ", "))
	}
	if !o.json {
		o.printf("Every package in the cache has the hash that it was stored with.\n")
	}
	return nil
}

func (o *output) cacheClean(ctx context.Context, cmd *invocation, c store.Cache) error {
	olderThan, err := age(cmd.String("older-than"))
	if err != nil {
		return usageError{err}
	}
	projects, foreign, err := c.Projects(ctx, olderThan)
	if err != nil && !cmd.Bool("all") {
		return err
	}
	if cmd.Bool("all") {
		if err != nil {
			o.warnf("%s", err)
		}
		o.cleanedProjects(projects)
	}
	if exposed, ok := errors.AsType[*pathsafe.ExposedError](c.Check()); ok {
		o.printWarning("", event.Warning{Message: exposed.Error() + "; so installations do not use it", Kind: event.WarningExposed, Err: exposed})
	}
	o.whenInterrupted = "Interrupted; part of the cache was removed."
	freed, err := c.Clean(ctx, olderThan, cmd.Bool("all"))
	if err != nil {
		return err
	}
	if o.json {
		o.result(usageRecord(freed, projects, foreign))
		return nil
	}
	o.usage("removed: ", freed)
	if freed.Linked.Number > 0 {
		o.printf("kept: %s (%s) with links from %s; `cotter cache clean --all` removes them too\n",
			view.Count(freed.Linked.Number, "provider"), megabytes(freed.Linked.Bytes), view.Count(len(projects), "project"))
	}
	if foreign > 0 {
		o.notef("The cache also has records of %s that this user has not installed. They were not looked at, and may need `cotter install`.\n", view.Count(foreign, "project"))
	}
	return nil
}

// cleanedProjects names the projects that stock tools cannot use after cleaning, before it begins.
func (o *output) cleanedProjects(projects []store.Project) {
	if len(projects) == 0 || o.json {
		return // JSON output has the projects in the result
	}
	o.printf("These projects link to removed providers and need `cotter install`:\n")
	for _, project := range projects {
		o.printf("  %s\n", project.Dir)
	}
}

func (o *output) usage(label string, u store.Usage) {
	o.printf("%s%s (%s), %s (%s), %s (%s)\n", label, view.Count(u.Modules.Number, "package"), megabytes(u.Modules.Bytes+u.QuarantineBytes),
		view.Count(u.Git.Number, "git store"), megabytes(u.Git.Bytes), view.Count(u.Providers.Number, "provider"), megabytes(u.Providers.Bytes))
}

func usageRecord(u store.Usage, projects []store.Project, foreign int) records.Record {
	return records.CacheUsage{
		Packages:     u.Modules.Number,
		PackageBytes: u.Modules.Bytes,
		GitStores:    u.Git.Number,
		GitBytes:     u.Git.Bytes,
		Providers:    u.Providers.Number,
		ProviderSize: u.Providers.Bytes,
		Linked:       u.Linked.Number,
		LinkedSize:   u.Linked.Bytes,
		Quarantine:   u.QuarantineBytes,
		Bytes:        u.Bytes(),
		Projects:     append([]store.Project{}, projects...),
		Foreign:      foreign,
	}
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// age parses a duration, such as 12h, or a number of days, such as 30d. For "" it returns 0.
func age(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("--older-than takes a time such as 30d or 12h, got %q", text)
}
