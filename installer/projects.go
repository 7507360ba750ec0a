package installer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// InstallAll is Install for several projects. Each version, tag and package is requested only once. If a
// project fails, the others continue: its result is nil, and the error joins a *[ProjectError] for it. Update
// may name calls and providers that only one project has.
func (in *Installer) InstallAll(ctx context.Context, projects []Project, o InstallOptions) ([]*Result, error) {
	results := make([]*Result, len(projects))
	err := forEachProject(in, projects, func(in *Installer, i int, p Project) error {
		result, err := install(ctx, in, request{Project: p, InstallOptions: o, several: true})
		if err == nil || o.AllowConfigErrors {
			results[i] = result
		}
		return err
	})
	if err != nil {
		return results, err
	}
	return results, join(o.Update.missing(results)...)
}

func (u Update) missing(results []*Result) []error {
	var errs []error
	for _, path := range u.named() {
		key := path.String()
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.hasCall(key) }) {
			errs = append(errs, fmt.Errorf("%q: %w", key, ErrNoSuchCall))
		}
	}
	for _, address := range u.Providers {
		if !slices.ContainsFunc(results, func(r *Result) bool { return r.requires(address) }) {
			errs = append(errs, fmt.Errorf("provider %s: %w", address, ErrNoSuchProvider))
		}
	}
	return errs
}

func (r *Result) hasCall(key string) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Path.String() == key && !m.Package.IsZero() })
}

func (r *Result) requires(address string) bool {
	provider, err := r.Dialect.Parser().ParseProviderSource(address)
	return err == nil && slices.ContainsFunc(r.Providers, func(p Provider) bool { return p.Address == provider })
}

// forEachProject calls work for several projects in parallel, with copies of in that share a pool. If a project
// fails, the others continue.
func forEachProject(in *Installer, projects []Project, work func(*Installer, int, Project) error) error {
	if err := checkInstaller(in); err != nil {
		return err
	}
	serial := serialEvents()
	all := &events{fn: logged(in.options.Logger, serial(in.options.OnEvent))}
	by, err := userOf(in, all)
	if err != nil {
		return err
	}
	clients := clientsOf(in)
	shared, done, err := clients.openPool(by)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := sharedPlaces(projects)
	var group errgroup.Group
	group.SetLimit(clients.Parallel)
	for i, p := range projects {
		if p.OnEvent == nil {
			p.OnEvent = in.options.OnEvent
		}
		p.OnEvent = serial(p.OnEvent)
		group.Go(func() error {
			if failures[i] != nil {
				return nil // the other projects continue
			}
			one := *in
			one.shared, one.options.OnEvent = shared, nil
			if err := work(&one, i, p); err != nil {
				failures[i] = &ProjectError{p.Dir, err}
			}
			return nil
		})
	}
	_ = group.Wait() // errors are in failures
	return join(failures...)
}

// sharedPlaces returns an error for each project whose files are those of an earlier one. A project may be
// named twice: the second run waits for the first one.
func sharedPlaces(projects []Project) []error {
	type place struct{ field, path string }
	owners, failures := make(map[place]int), make([]error, len(projects))
	for i, p := range projects {
		places := []place{{"ModulesDir", p.modulesPath()}, {"DataDir", p.dataPath()}}
		if p.hasLockFile() {
			places = append(places, place{"LockFile", p.lockPath()})
		}
		for _, at := range places {
			if path, err := filepath.Abs(at.path); err == nil {
				at.path = path
			}
			first, taken := owners[at]
			if !taken {
				owners[at] = i
			} else if filepath.Clean(projects[first].dir()) != filepath.Clean(p.dir()) {
				failures[i] = &ProjectError{p.Dir, &InvalidOptionsError{Fields: []string{at.field}, Reason: fmt.Sprintf("it is the same as that of %s: %s", projects[first].Dir, at.path)}}
			}
		}
	}
	return failures
}

func serialEvents() func(fn func(Event)) func(Event) {
	var mu sync.Mutex
	return func(fn func(Event)) func(Event) {
		if fn == nil {
			return nil
		}
		return func(event Event) {
			mu.Lock()
			defer mu.Unlock()
			fn(event)
		}
	}
}

func share(in *Installer) (_ *Installer, done func(), err error) {
	if err := checkInstaller(in); err != nil {
		return nil, nil, err
	}
	by, err := userOf(in, eventsOf(in, Project{}))
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = clientsOf(in).openPool(by)
	return &copied, done, err
}
