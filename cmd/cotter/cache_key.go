package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func cacheKeyCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "key",
		Usage:     "print what a CI cache of the cache directory should be keyed by",
		ArgsUsage: "[DIR...]",
		Description: "The key is made of the version of the cache's format, the platform, and a hash of\n" +
			"the modules and providers in the lock, or in all locks of several projects. With\n" +
			"--prefix it is without the hash: a cache whose key begins so is of use, and a run\n" +
			"fetches only what it does not have.",
		Flags: projectFlags(severalFlags(
			&cli.Flag{Name: "prefix", Usage: "print what all such keys begin with on this platform"},
		)...),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			return runCacheKey(ctx, cmd, out)
		},
	}
}

func runCacheKey(ctx context.Context, cmd *cli.Invocation, out *output) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	dirs := []string{req.Dir}
	if severalProjects(cmd) {
		if dirs, err = projectDirs(ctx, cmd, out, req); err != nil {
			return err
		}
	}
	req.ForDir = func(req cotter.Request) (cotter.Request, error) { return applySettings(cmd, req) }
	key, err := localInstaller(cmd, out).CacheKey(ctx, dirs, req)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", errNoLock, err)
	}
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(cacheKeyRecord{key.Key, key.Prefix, addrs.CurrentPlatform().String(), key.Modules, key.Providers})
	}
	if cmd.Bool("prefix") {
		out.printf("%s\n", key.Prefix)
		return nil
	}
	out.printf("%s\n", key.Key)
	return nil
}
