package cotter

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/config"
	"github.com/cotterpin/cotter/internal/ctxerr"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/versions"
)

// Pin is a call in one of the project's own modules, with a source address that names a
// version tag, such as "?ref=v1.2.0" or "?tag=1.2.0". Package edit can replace the tag.
type Pin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call config.Call
	// Argument is the argument of the address: "ref", or "tag" for an OCI repository.
	Argument string
	// Tag is the tag in the address, and Version the version that it denotes.
	Tag     string
	Version versions.Version
	// LatestTag and LatestVersion are those of the newest stable version, ignoring versions
	// that are too young for the request's policies. They equal Tag and Version if there is
	// no newer version.
	LatestTag     string
	LatestVersion versions.Version
}

// Outdated reports whether there is a newer version.
func (p Pin) Outdated() bool { return p.Tag != p.LatestTag }

// Pins finds the pins of a configuration, sorted by path, and asks their origins for the
// newest tags. The modules need not be installed, and nothing is changed. If an origin does
// not answer, the error contains a *ModuleError for the pin; the other pins are still
// returned. [Installer.Outdated] has the same pins beside the other calls, in an installed project.
func (in *Installer) Pins(ctx context.Context, req Request) (_ []Pin, err error) {
	defer ctxerr.Keep(ctx, &err)
	ctx, p, err := openToAsk(ctx, in, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	calls, err := p.ownCalls(ctx)
	if err != nil {
		return nil, err
	}
	s := p.newSelector()
	pins, failures := make([]*Pin, len(calls)), make([]error, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		wait.Go(func() { pins[i], failures[i] = s.pin(ctx, c, req.KeepCredentials) })
	}
	wait.Wait()
	var found []Pin
	for _, pin := range pins {
		if pin != nil {
			found = append(found, *pin)
		}
	}
	return found, join(failures...)
}

// errElsewhere says that a module is outside the project. Pins does not read such modules.
var errElsewhere = errors.New("the module is not in the project")

// ownCalls returns the calls from the project's own modules to modules outside the project,
// sorted by path.
func (q *inquiry) ownCalls(ctx context.Context) ([]*call, error) {
	var mu sync.Mutex
	var calls []*call
	_, failures, err := q.walk(ctx, func(_ context.Context, c *call) (*module, error) {
		if c.from.IsLocal() {
			return localModule(c, q.dirs)
		}
		if c.replaced != nil {
			return nil, errElsewhere // its address is not in the call
		}
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, c)
		return nil, errElsewhere
	}, nil)
	if err != nil {
		return nil, err
	}
	for _, err := range failures.errs() {
		if !errors.Is(err, errElsewhere) {
			return nil, err
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return strings.Compare(a.key(), b.key()) })
	return calls, nil
}

// mayBeVersion matches the names of all tags that are versions.
var mayBeVersion = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

// pin returns the pin of a call, or nil if the call has none.
func (s *selector) pin(ctx context.Context, c *call, keepCredentials bool) (*Pin, error) {
	remote, ok := c.from.Address.(addrs.ModuleSourceRemote)
	if !ok || c.from.HasConstraint || !origins.HasTags(remote.Package) {
		return nil, nil
	}
	argument := "ref"
	if remote.Package.Getter() == "oci" {
		argument = "tag"
	}
	name, exact := remote.Package.Ref()
	if exact || name == "" || name != remote.Package.Arg(argument) || !mayBeVersion.MatchString(name) {
		return nil, nil
	}
	tag := strings.TrimPrefix(name, "refs/tags/")
	anyTag := c.from
	anyTag.Repository = remote.Package.Unpinned()
	offered, err := s.origins.TagVersions(ctx, anyTag)
	if err != nil {
		return nil, c.fail(err)
	}
	at := slices.IndexFunc(offered, func(v versions.Candidate) bool { return v.Ref == tag })
	if at < 0 {
		return nil, nil // it is a branch, or a tag that is not a version of this directory
	}
	current := offered[at]
	shown, _ := c.shown(keepCredentials)
	pin := &Pin{
		Path: c.path, Call: shown, Argument: argument,
		Tag: name, Version: current.Version, LatestTag: name, LatestVersion: current.Version,
	}
	old, _ := s.byAge(c, offered)
	newest, err := versions.Select(sameSpelling(old, current), versions.Constraints{})
	if err == nil && newest.Version.Compare(current.Version) > 0 {
		pin.LatestTag, pin.LatestVersion = strings.TrimSuffix(name, tag)+newest.Ref, newest.Version
	}
	return pin, nil
}

// sameSpelling returns the versions whose tags have the same prefix as the given tag, such
// as "v".
func sameSpelling(offered []versions.Candidate, as versions.Candidate) []versions.Candidate {
	prefix, _ := strings.CutSuffix(as.Ref, as.Version.String())
	return slices.DeleteFunc(slices.Clone(offered), func(v versions.Candidate) bool {
		own, _ := strings.CutSuffix(v.Ref, v.Version.String())
		return own != prefix
	})
}
