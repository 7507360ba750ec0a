package cotter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
)

// ProjectError is what failed in one of the configurations that InstallAll
// installs.
type ProjectError struct {
	// Dir is the root module's directory, as InstallAll got it.
	Dir string
	// Err is what Install returned.
	Err error
}

func (e *ProjectError) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Err) }

func (e *ProjectError) Unwrap() error { return e.Err }

// InstallAll is Install for several root modules at once, each as req says but
// for its directory. Each version, tag and package is asked for once, whichever
// of them want it. A project that fails leaves the others alone: the results
// are in the order of dirs, nil where a project failed, and the error joins a
// *[ProjectError] for each of those.
//
// onEvent takes the place of in.OnEvent and is told whose event it is, "" for what
// concerns all of them; it is never called twice at once. nil is fine.
func (in *Installer) InstallAll(ctx context.Context, dirs []string, req Request, onEvent func(dir string, event Event)) ([]*Result, error) {
	serial := serialEvents(onEvent)
	all := &events{fn: serial("")}
	key, err := in.userKey(all)
	if err != nil {
		return nil, err
	}
	shared, done, err := in.sharedSession(key)
	if err != nil {
		return nil, err
	}
	defer done()
	shared.warnOfCache(all)
	results, failures := make([]*Result, len(dirs)), make([]error, len(dirs))
	var group errgroup.Group
	group.SetLimit(in.parallel())
	for i, dir := range dirs {
		group.Go(func() error {
			one := *in
			one.OnEvent = serial(dir)
			req := req
			req.Dir = dir
			result, err := one.installIn(ctx, shared, req)
			if results[i] = result; err != nil {
				results[i], failures[i] = nil, &ProjectError{dir, err}
			}
			return nil // the others go on
		})
	}
	_ = group.Wait() // failures are kept one by one
	return results, errors.Join(failures...)
}

// serialEvents makes callbacks for single projects out of the one for all.
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
