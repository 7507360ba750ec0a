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
		Usage:     "print the key under which CI should store the cache directory",
		ArgsUsage: "[DIR...]",
		Description: "The key consists of the version of the cache format, the platform, and a hash of the\n" +
			"modules and providers in the lock, or in the locks of several projects. With --prefix\n" +
			"the hash is left out. A stored cache whose key has the same prefix is still useful: a\n" +
			"run fetches only the packages that it lacks.",
		Flags: projectFlags(severalFlags(
			&cli.Flag{Name: "prefix", Usage: "print only the prefix that all keys on this platform share"},
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
