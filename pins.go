package cotter

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// Pin is a call in one of the project's own modules whose source address names a tag
// that is a version, as "?ref=v1.2.0" and "?tag=1.2.0" do.
type Pin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Argument is the argument of the address: "ref", or "tag" of an OCI repository.
	Argument string
	// Tag and Version are the tag and the version that it is.
	Tag, Version string
	// LatestTag and LatestVersion are those of the newest stable version, without those
	// that are too young for the request's policies. They are Tag and Version if none
	// is newer.
	LatestTag, LatestVersion string

	literal string // the source as the file has it, with its quotation marks
}

// Outdated reports whether there is a newer version.
func (p Pin) Outdated() bool { return p.Tag != p.LatestTag }

// Pins finds the pins of a configuration, in the order of the paths, and asks origins
// for their newest tags. The modules need not be installed, and nothing is changed. Pins
// whose origin gave no answer are *ModuleErrors; the others are returned beside them.
func (in *Installer) Pins(ctx context.Context, req Request) (_ []Pin, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return nil, err
	}
	calls, err := in.ownCalls(ctx, p)
	if err != nil {
		return nil, err
	}
	session, done, err := in.sharedSession(p.key)
	if err != nil {
		return nil, err
	}
	defer done()
	asks := &origins{session: session, offline: req.Offline, rules: p.rules, events: &events{fn: in.OnEvent}}
	s := &selector{origins: asks, lock: p.lock}
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
	return found, errors.Join(failures...)
}

// errElsewhere says that a module is outside the project, where Pins does not go.
var errElsewhere = errors.New("the module is not in the project")

// ownCalls returns the calls in the project's own modules of modules outside of it, in
// the order of their paths.
func (in *Installer) ownCalls(ctx context.Context, p *openProject) ([]*call, error) {
	var mu sync.Mutex
	var calls []*call
	_, failures, err := in.walkInstalled(ctx, p, func(_ context.Context, c *call) (*module, error) {
		if c.isLocal() {
			return localModule(c, p.paths.dir)
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
	slices.SortFunc(calls, func(a, b *call) int { return compareKeys(a.key(), b.key()) })
	return calls, nil
}

// mayBeVersion is in the names of all tags that are versions.
var mayBeVersion = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

// pin returns the pin of a call; nil if it has none.
func (s *selector) pin(ctx context.Context, c *call, keepCredentials bool) (*Pin, error) {
	remote, ok := c.source.(addrs.ModuleSourceRemote)
	if !ok || c.hasConstraint || !hasTags(remote.Package) {
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
	of := *c // of any tag
	of.repository = remote.Package.Unpinned()
	offered, err := s.tagVersions(ctx, &of)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(offered, func(v versions.Candidate) bool { return v.Ref == tag })
	if at < 0 {
		return nil, nil // it is a branch, or a tag that is no version of this directory
	}
	current := offered[at]
	shown, _ := c.shown(keepCredentials)
	pin := &Pin{
		Path: c.path, Call: shown, Argument: argument, literal: `"` + c.Source + `"`,
		Tag: name, Version: current.Version.String(), LatestTag: name, LatestVersion: current.Version.String(),
	}
	if c.SourceComputed {
		pin.literal = ""
	}
	old, _ := s.byAge(c, offered)
	newest, err := versions.Select(sameSpelling(old, current), versions.Constraints{})
	if err == nil && newest.Version.Compare(current.Version) > 0 {
		pin.LatestTag, pin.LatestVersion = strings.TrimSuffix(name, tag)+newest.Ref, newest.Version.String()
	}
	return pin, nil
}

// sameSpelling returns the versions whose tags have the same prefix as a tag, such as "v".
func sameSpelling(offered []versions.Candidate, as versions.Candidate) []versions.Candidate {
	prefix, _ := strings.CutSuffix(as.Ref, as.Version.String())
	return slices.DeleteFunc(slices.Clone(offered), func(v versions.Candidate) bool {
		own, _ := strings.CutSuffix(v.Ref, v.Version.String())
		return own != prefix
	})
}
