package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/disco"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/cliconfig"
	"github.com/cotterpin/cotter/registryclient"
)

// request is what the flags and the environment say about the project.
func request(cmd *cli.Command, env func(string) string) (cotter.Request, error) {
	dialect, err := cotter.ParseDialect(cmd.String("for"))
	if err != nil {
		return cotter.Request{}, usageError{err}
	}
	return cotter.Request{
		Dir:      cmd.String("chdir"),
		DataDir:  env("TF_DATA_DIR"),
		LockFile: cmd.String("lock-file"),
		Dialect:  dialect,
	}, nil
}

// installer is an Installer as the command uses it: with the tokens and hosts
// of the CLI configuration of stock tools.
func installer(cmd *cli.Command, out *output, req cotter.Request) (*cotter.Installer, error) {
	home, _ := os.UserHomeDir() // without one, there are no files in it
	source := cliconfig.Source{Environ: os.Environ(), Home: home, Terraform: req.Dialect == cotter.DialectTerraform}
	config, diags := source.Load()
	if diags.HasErrors() {
		return nil, diags
	}
	for _, diag := range diags {
		out.warnf("%s: %s", diag.Summary, diag.Detail)
	}
	agent := "cotter/" + version()
	services := &disco.Client{Credentials: tokens(config.Tokens), ForcedServices: config.Services, UserAgent: agent}
	dir := cacheDir(cmd, out.env)
	return &cotter.Installer{
		Registry: &registryclient.Client{Services: services, UserAgent: agent},
		Fetcher:  &getmodules.Fetcher{CacheDir: dir},
		CacheDir: dir,
	}, nil
}

// tokens are credentials for hosts.
type tokens map[addrs.Hostname]cliconfig.Token

func (t tokens) ForHost(_ context.Context, host addrs.Hostname) (disco.Credentials, error) {
	if token, ok := t[host]; ok {
		return disco.BearerToken(token.Secret()), nil
	}
	return nil, nil
}

// cacheDir is the user's cache: the flag, COTTER_CACHE_DIR, or "cotter" in the
// system's place for caches. Without a home there is none.
func cacheDir(cmd *cli.Command, env func(string) string) string {
	if dir := cmd.String("cache-dir"); dir != "" {
		return dir
	}
	if dir := env("COTTER_CACHE_DIR"); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "cotter")
}
