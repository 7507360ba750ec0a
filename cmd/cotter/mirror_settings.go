package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/policy"
)

func mirrorFlag() addFlag {
	return text("mirror", "take locked packages from the mirror `oci://HOST/REPOSITORY` first; the default is COTTER_MIRROR")
}

func userSettings(ctx context.Context) (*policy.UserSettings, error) {
	name, named := cliconfig.OSEnvironment().ConfigFile()
	if name == "" {
		return &policy.UserSettings{}, nil
	}
	src, err := atomicfile.ReadUser(ctx, name, policy.MaxSize)
	if atomicfile.IsAbsent(err) && !named {
		return &policy.UserSettings{}, nil
	}
	if err != nil {
		return nil, err
	}
	found, diags := policy.ParseUserSettings(src, name)
	if diags.HasErrors() {
		return nil, &policy.FileError{File: name, Diagnostics: diags}
	}
	return found, nil
}

// usedMirrors returns the mirror named, or of --mirror, or of COTTER_MIRROR, or else those in the settings of
// the user and of the project in dir.
func usedMirrors(ctx context.Context, cmd *invocation, env func(string) string, dir, named string) ([]policy.UsedMirror, error) {
	user, err := userSettings(ctx)
	if err != nil {
		return nil, err
	}
	project, err := repository.ReadSettings(env, dir)
	if err != nil {
		return nil, err
	}
	if env("COTTER_MIRROR_KEY") != "" {
		return nil, usageError{fmt.Errorf("COTTER_MIRROR_KEY: %w", policy.ErrMirrorSignatures)}
	}
	return policy.Mirrors(user, project, cmp.Or(named, cmd.String("mirror"), env("COTTER_MIRROR"))), nil
}

func openUsed(fetcher *getmodules.Fetcher, used policy.UsedMirror) (*mirror.Mirror, error) {
	opened, err := mirror.Open(fetcher, used.Address)
	if err != nil {
		return nil, usageError{err}
	}
	opened.Trusted = used.Trusted
	return opened, nil
}

// mirrors opens mirrors with the same settings only once.
type mirrors struct {
	cmd *invocation
	out *output
	in  *installer.Installer

	mu     sync.Mutex
	opened map[policy.UsedMirror]*mirror.Mirror
}

func newMirrors(cmd *invocation, out *output, in *installer.Installer) *mirrors {
	return &mirrors{cmd: cmd, out: out, in: in, opened: make(map[policy.UsedMirror]*mirror.Mirror)}
}

func (m *mirrors) open(used policy.UsedMirror) (*mirror.Mirror, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if opened := m.opened[used]; opened != nil {
		return opened, nil
	}
	fetcher, ok := m.in.Options().Fetcher.(*getmodules.Fetcher)
	if !ok {
		return nil, errors.New("the installer has a fetcher of another kind") // should never happen
	}
	opened, err := openUsed(fetcher, used)
	if err == nil {
		m.opened[used] = opened
	}
	return opened, err
}

// inRequest puts the mirrors of a project before the other stores of its request.
func (m *mirrors) inRequest(ctx context.Context, req request) (request, error) {
	used, err := usedMirrors(ctx, m.cmd, m.out.Env, req.Dir, "")
	if err != nil {
		return req, err
	}
	var stores []installer.PackageStore
	for _, u := range used {
		opened, err := m.open(u)
		if err != nil {
			return req, err
		}
		stores = append(stores, opened)
	}
	req.Stores = append(stores, req.Stores...)
	return req, nil
}

type mirrorOf struct {
	policy.UsedMirror
	projects []installer.Project
}

// byMirror groups projects by those of their mirrors that choose selects, in the order of their first use.
// named is as for usedMirrors.
func (m *mirrors) byMirror(ctx context.Context, projects []installer.Project, named string, choose func([]policy.UsedMirror) []policy.UsedMirror) (groups []mirrorOf, err error) {
	for _, p := range projects {
		used, err := usedMirrors(ctx, m.cmd, m.out.Env, p.Dir, named)
		if err != nil {
			return nil, err
		}
		for _, u := range choose(used) {
			i := slices.IndexFunc(groups, func(g mirrorOf) bool { return g.UsedMirror == u })
			if i < 0 {
				i, groups = len(groups), append(groups, mirrorOf{UsedMirror: u})
			}
			groups[i].projects = append(groups[i].projects, p)
		}
	}
	return groups, nil
}

// writer pushes what a run has fetched from origins to the mirrors with the mode "write".
type writer struct {
	cmd     *invocation
	out     *output
	in      *installer.Installer
	req     request
	fetched bool // something came from its origin
}

func (w *writer) note(ev installer.Event) {
	switch e := ev.(type) {
	case event.FetchDone:
		w.fetched = w.fetched || e.Store == ""
	case event.ProviderProgress:
		w.fetched = w.fetched || !e.Stored
	}
}

// write only warns about failures, because the root modules are installed already.
func (w *writer) write(ctx context.Context, projects ...installer.Project) {
	if !w.fetched || w.req.DryRun || w.req.Offline || len(projects) == 0 || ctx.Err() != nil {
		return
	}
	all := newMirrors(w.cmd, w.out, w.in)
	groups, err := all.byMirror(ctx, projects, "", func(used []policy.UsedMirror) []policy.UsedMirror { return used })
	if err != nil {
		w.out.warnf("nothing was pushed to a mirror: %s", err)
		return
	}
	for _, g := range groups {
		switch {
		case g.WriteRefused:
			w.out.warnf("nothing was pushed to the mirror %s: cotter.hcl names it, but your own settings do not trust it", g.Address)
		case g.Write:
			if err := w.writeTo(ctx, all, g); err != nil {
				w.out.warnf("not everything was pushed to the mirror %s: %s", g.Address, err)
			}
		}
	}
}

func (w *writer) writeTo(ctx context.Context, all *mirrors, group mirrorOf) error {
	to, err := all.open(group.UsedMirror)
	if err != nil {
		return err
	}
	// Only the packages for this platform were fetched.
	result, err := mirror.Push(ctx, w.in, silent(group.projects), installer.LockedOptions{Scope: w.req.Scope, AcceptUnreachable: w.req.AcceptUnreachable}, to)
	if err == nil && result.Pushed+result.Replaced > 0 {
		if w.out.json {
			return w.out.writeJSON(records.Pushed{Mirrors: []records.PushedMirror{records.PushedMirrorOf(to, result)}})
		}
		w.out.pushed(to, result)
	}
	return err
}

// silent returns projects without events, which the run has told already.
func silent(projects []installer.Project) []installer.Project {
	quiet := slices.Clone(projects)
	for i := range quiet {
		quiet[i].OnEvent = func(installer.Event) {}
	}
	return quiet
}
