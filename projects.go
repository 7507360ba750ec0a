package cotter

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// ProjectError is the error of one of the configurations that InstallAll or LockedPackages
// process.
type ProjectError struct {
	// Dir is the root module's directory, as passed to the method.
	Dir string
	// Err is the error for this project.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// InstallAll is Install for several root modules at once. req applies to each of them, with
// its directory replaced. Each version, tag and package is requested only once, even if
// several of them need it. If a project fails, the others continue. The results are in the
// order of dirs, with nil for a project that failed. The error joins a *[ProjectError] for
// each failed project. The calls and providers that req.Update names need to exist in only
// one of the projects.
//
// onEvent is used instead of in.OnEvent, and may be nil. dir is the project of the event,
// or "" if the event concerns all projects. onEvent is never called twice at once.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	results := make([]*Result, len(dirs))
	err := forEachProject(in, dirs, req, onEvent, func(in *Installer, i int, req Request) error {
		req.Update.several = true
		result, err := in.Install(ctx, req)
		if err == nil || req.AllowConfigErrors {
			results[i] = result
		}
		return err
	})
	if err != nil {
		return results, err
	}
	return results, join(req.Update.missing(results)...)
}

// missing returns the errors about calls and providers that an update names and that no
// project has.
func (u Update) missing(results []*Result) []error {
	var errs []error
	for _, key := range u.Keys {
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

// hasCall reports whether the result has a call with a package of its own.
func (r *Result) hasCall(key string) bool {
	return slices.ContainsFunc(r.Modules, func(m Module) bool { return m.Path.String() == key && m.Package != "" })
}

// requires reports whether the result has a provider, given its address in a configuration.
func (r *Result) requires(address string) bool {
	provider, err := r.Dialect.parser().ParseProviderSource(address)
	return err == nil && slices.ContainsFunc(r.Providers, func(p Provider) bool { return p.Address == provider })
}

// forEachProject calls work for several root modules in parallel. work gets the index and
// the request of a root module, and a copy of in; the copies share a session. If a project
// fails, the others continue. The error joins a *ProjectError for each failed project.
func forEachProject(in *Installer, dirs []string, req Request, onEvent func(string, Event), work func(*Installer, int, Request) error) error {
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	by, err := userOf(in, all)
	if err != nil {
		return err
	}
	clients := clientsOf(in)
	shared, done, err := clients.session(by)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(clients.parallel)
	for i, dir := range dirs {
		group.Go(func() error {
			req, err := req.inDir(dir)
			if err == nil {
				one := *in
				one.shared, one.OnEvent = shared, serial(dir)
				err = work(&one, i, req)
			}
			if err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil // the other projects continue
		})
	}
	_ = group.Wait() // errors are in failures
	return join(failures...)
}

// serialEvents returns a function that creates the callback for one project from the
// callback for all.
func serialEvents(onEvent func(string, Event)) func(dir string) func(Event) {
	if onEvent == nil {
		return func(string) func(Event) { return nil }
	}
	var mu sync.Mutex
	return func(dir string) func(Event) {
		return func(event Event) {
			mu.Lock()
			defer mu.Unlock()
			onEvent(dir, event)
		}
	}
}

// Share returns a copy of in whose runs share the answers of origins: each version, tag and
// package is requested only once, even if several configurations need it. The fields of the
// copy may be changed. done discards the answers; call it after all runs. InstallAll shares
// answers among its installations in the same way.
func (in *Installer) Share() (_ *Installer, done func(), err error) {
	by, err := userOf(in, nil)
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = clientsOf(in).session(by)
	return &copied, done, err
}
