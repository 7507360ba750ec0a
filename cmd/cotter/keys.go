package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

// explainNames adds an explanation to an error about a name that cannot be updated: a
// sentence about the name, and similar names. It returns other errors unchanged.
func explainNames(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request, err error) error {
	if !errors.Is(err, cotter.ErrNoSuchCall) && !errors.Is(err, cotter.ErrNoSuchProvider) || severalProjects(cmd) {
		return err
	}
	req.BestEffort = true
	calls, loadErr := localInstaller(cmd, &output{stderr: out.stderr, env: out.env, quiet: true}).Load(ctx, req)
	if loadErr != nil {
		return err
	}
	for _, key := range req.Update.Keys {
		if explained := explainKey(calls, key, err); explained != nil {
			return explained
		}
	}
	for _, name := range req.Update.Providers {
		names, _ := providerNames(ctx, cmd, out, req)
		if hint := didYouMean(name, names); hint != "" && !slices.Contains(names, name) {
			return hinted(err, hint)
		}
	}
	return err
}

// namedError is an error with another text.
type namedError struct {
	text string
	err  error
}

func (e *namedError) Error() string { return e.text }
func (e *namedError) Unwrap() error { return e.err }

// explainKey returns an error about a key that has no lock entry. It returns nil if the key
// has one.
func explainKey(calls *cotter.Result, key string, err error) error {
	var own, below []string // the keys with an entry, and those of them that are below key
	known := map[string]bool{}
	for _, m := range calls.Modules {
		known[m.Path.String()] = true
		if m.Package == "" {
			continue
		}
		own = append(own, m.Path.String())
		if strings.HasPrefix(m.Path.String(), key+".") {
			below = append(below, m.Path.String())
		}
	}
	switch {
	case slices.Contains(own, key):
		return nil
	case !known[key]:
		return hinted(&namedError{fmt.Sprintf("there is no module call %s", key), err}, didYouMean(key, own))
	}
	what := "is a local module and is not locked"
	if i := strings.LastIndexByte(key, '.'); i > 0 && len(below) == 0 {
		for _, owner := range own {
			if strings.HasPrefix(key, owner+".") {
				what, below = "is part of the package of "+owner, []string{owner}
			}
		}
	}
	hint := ""
	if len(below) > 0 {
		hint = "Try " + alternatives(below) + "."
	}
	return hinted(&namedError{key + " " + what, err}, hint)
}

// providerNames returns the names by which the command line can refer to the providers of a
// project.
func providerNames(ctx context.Context, cmd *cli.Invocation, out *output, req cotter.Request) ([]string, error) {
	all, err := loadProviders(ctx, cmd, out, req)
	var names []string
	for _, p := range all {
		names = append(names, p.Address.ForDisplay())
		if short := p.Address.Namespace + "/" + p.Address.Type; short != p.Address.ForDisplay() {
			names = append(names, short)
		}
	}
	return names, err
}
