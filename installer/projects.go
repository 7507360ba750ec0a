package installer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// InstallAll is Install for several root modules at once. req applies to each of them, with
// its own directory, so req.Dir must be "". Each version, tag and package is requested only once, even if
// several of them need it. If a project fails, the others continue. The results are in the
// order of dirs, with nil for a project that failed. The error joins a *[ProjectError] for
// each failed project; [ProjectErrors] enumerates them. The calls and providers that req.Update names need to exist in only
// one of the projects.
//
// onEvent is used instead of the callbacks of req and in. dir is the project of the event,
// or "" if the event concerns all projects. If onEvent is nil, the events of all projects go to
// req.OnEvent, or else to in.OnEvent. A request that req.ForDir returns may have another OnEvent. None
// of these is called twice at once by the runs of one InstallAll.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	results := make([]*Result, len(dirs))
	if req.Dir != "" {
		return results, &InvalidRequestError{Fields: []string{"Dir"}, Reason: "several root modules have a directory each"}
	}
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
	if fn := req.OnEvent; onEvent == nil && fn != nil {
		onEvent = func(_ string, event Event) { fn(event) }
	} else if fn := in.OnEvent; onEvent == nil && fn != nil {
		onEvent = func(_ string, event Event) { fn(event) }
	}
	serial := serialEvents(onEvent)
	all := &events{fn: logged(in.Logger, serial(""))}
	by, err := userOf(in, all)
	if err != nil {
		return err
	}
	clients := clientsOf(in)
	shared, done, err := clients.openSession(by)
	if err != nil {
		return err
	}
	defer done()
	shared.warnOfCache(all)
	failures := make([]error, len(dirs))
	requests := requestsFor(dirs, req, serial, failures)
	var group errgroup.Group
	group.SetLimit(clients.parallel)
	for i, dir := range dirs {
		group.Go(func() error {
			if failures[i] != nil {
				return nil // the other projects continue
			}
			one := *in
			one.shared, one.OnEvent = shared, nil
			if err := work(&one, i, requests[i]); err != nil {
				failures[i] = &ProjectError{dir, err}
			}
			return nil
		})
	}
	_ = group.Wait() // errors are in failures
	return join(failures...)
}

// requestsFor returns the request for each root module, and sets the failures of those that have none,
// or whose files are those of another one.
func requestsFor(dirs []string, req Request, onEvent func(dir string) func(Event), failures []error) []Request {
	requests := make([]Request, len(dirs))
	type place struct{ field, path string }
	owners := make(map[place]int)
	for i, dir := range dirs {
		one := req
		one.OnEvent = onEvent(dir)
		var err error
		if requests[i], err = one.inDir(dir); err != nil {
			failures[i] = &ProjectError{dir, err}
			continue
		}
		one = requests[i]
		places := []place{{"ModulesDir", one.modulesPath()}, {"DataDir", one.dataPath()}}
		if one.hasLockFile() {
			places = append(places, place{"LockFile", one.lockPath()})
		}
		if one.LockContent != nil && req.ForDir == nil && len(dirs) > 1 {
			failures[i] = &ProjectError{dir, &InvalidRequestError{Fields: []string{"LockContent"}, Reason: "each project has a lock of its own; ForDir can return it"}}
			continue
		}
		for _, at := range places {
			if path, err := filepath.Abs(at.path); err == nil {
				at.path = path
			}
			first, taken := owners[at]
			if !taken {
				owners[at] = i
			} else if filepath.Clean(dirs[first]) != filepath.Clean(dir) {
				failures[i] = &ProjectError{dir, &InvalidRequestError{Fields: []string{at.field}, Reason: fmt.Sprintf("it is the same as that of %s: %s", dirs[first], at.path)}}
			}
		}
	}
	return requests
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
// answers among its installations in the same way. Like them, Share creates the user's key in
// StateDir if there is none.
func (in *Installer) Share() (_ *Installer, done func(), err error) {
	by, err := userOf(in, eventsOf(in, Request{}))
	if err != nil {
		return nil, nil, err
	}
	copied := *in
	copied.shared, done, err = clientsOf(in).openSession(by)
	return &copied, done, err
}
