package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/store"
)

// lookAtGit reports the installed git, and the settings of the user that affect requests.
func (d *doctor) lookAtGit(ctx context.Context) {
	d.begin("Git")
	git, err := d.fetcher.Git.Inspect(ctx)
	switch needed := d.fetcher.GitBackend == getmodules.GitInstalled; {
	case errors.Is(err, getmodules.ErrNoGit) && needed:
		d.problem("%s, but COTTER_GIT_BACKEND requires it", err)
	case errors.Is(err, getmodules.ErrNoGit):
		d.note("%s; repositories are fetched without it, by https only, and without credential helpers, url.insteadOf and http.extraHeader", err)
	case err != nil:
		d.problem("git's configuration cannot be read: %s", err)
	default:
		d.ok("%s, version %s", git.Path, git.Version)
	}
	d.gitSettings = git.Settings
	for _, s := range git.Settings {
		switch {
		case s.TurnsOffVerification():
			d.note("%s = %s: git accepts any certificate", s.Name, s.Value)
		case s.Value == "":
			d.ok("%s is set (its value is not shown)", s.Name)
		default:
			d.ok("%s = %s", s.Name, s.Value)
		}
	}
}

func (d *doctor) lookAtMirrors(ctx context.Context) {
	d.begin("Mirrors")
	used, err := usedMirrors(ctx, d.cmd, d.Env, d.req.Dir, "")
	if err != nil {
		d.failed(err)
	} else if len(used) == 0 {
		d.ok("modules: none; they come from their origins")
	}
	for _, u := range used {
		if _, err := openUsed(d.fetcher, u); err != nil {
			d.problem("modules: %s", addrs.RedactText(err.Error()))
			continue
		}
		d.ok("modules and locked providers: %s first, and then their origins", addrs.Redact(u.Address))
		d.needPackage(ctx, getmodules.Request{Package: addrs.ParseModulePackage(u.Address)}, nil)
		if !u.Trusted {
			d.note("modules: cotter.hcl names %s, but you do not trust it: the origins are asked as well", addrs.Redact(u.Address))
		}
	}
	providers := &d.config.Providers
	implied := slices.DeleteFunc(slices.Clone(providers.ImpliedMirrors), func(dir string) bool {
		entries, err := os.ReadDir(view.Below(d.req.Dir, dir))
		return providers.Explicit || err != nil || len(entries) == 0
	})
	for _, dir := range implied {
		d.note("providers: those in %s are never requested from their registries", dir)
	}
	if !providers.Explicit && len(implied) == 0 {
		d.ok("providers: none; they come from their registries")
	}
	listed := func(label string, patterns []getproviders.Pattern) string {
		if len(patterns) == 0 {
			return ""
		}
		return label + strings.Join(lists.Map(patterns, getproviders.Pattern.String), ", ")
	}
	for _, m := range providers.Methods {
		text := m.Kind
		switch m.Kind {
		case cliconfig.MethodFilesystemMirror:
			text += " " + m.Path
		case cliconfig.MethodNetworkMirror:
			text += " " + m.URL.Redacted()
		}
		d.ok("providers: %s%s%s", text, listed(" for ", m.Include), listed(" but not for ", m.Exclude))
	}
	if providers.PluginCacheDir != "" {
		d.ok("providers: the plugin cache %s is read", providers.PluginCacheDir)
	}
}

func (d *doctor) lookAtCache(ctx context.Context) {
	d.begin("Cache and key")
	own := d.in.Options()
	user := store.Cache{Dir: own.CacheDir, StateDir: own.StateDir, StateKey: own.StateKey}
	if exposed, ok := errors.AsType[*pathsafe.ExposedError](user.Check()); ok {
		d.note("%s; so installations do not use it", exposed)
	}
	if usage, err := user.Size(ctx); own.CacheDir == "" {
		d.note("there is no home directory and no COTTER_CACHE_DIR, so nothing is cached")
	} else if err != nil {
		d.problem("%s cannot be read: %s", own.CacheDir, err)
	} else {
		d.ok("%s: %s, %s, %s", own.CacheDir, view.Count(usage.Modules.Number, "package"), view.Count(usage.Providers.Number, "provider"), megabytes(usage.Bytes()))
	}
	key := "the key in " + own.StateDir
	if own.StateKey != "" {
		key = "the key in COTTER_STATE_KEY"
	}
	switch err := user.CheckKey(); {
	case own.StateKey == "" && own.StateDir == "":
		d.note("there is no home directory for a key, and no COTTER_STATE_DIR or COTTER_STATE_KEY, so each run asks all origins again")
	case errors.Is(err, fs.ErrNotExist):
		d.ok("the first installation will create a key in %s", own.StateDir)
	case errors.As(err, new(*pathsafe.ExposedError)): // noted above
	case err != nil:
		d.problem("%s cannot be used: %s", key, err)
	default:
		d.ok("%s is private", key)
	}
}
