package cotter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/treeproviders"
	"github.com/cotterpin/cotter/versions"
)

// Outdated is a module call and the versions that there are for it.
type Outdated struct {
	Path   addrs.Module
	Call   ModuleCall
	Source addrs.ModuleSource
	// Current is the installed version, Allowed the newest that meets the
	// call's constraint, Latest the newest stable one, both without those that
	// are too young for the request's policies. "" stands for none.
	Current, Allowed, Latest string
	// Pin is set for a call whose source address names a tag that is a version. Then
	// Allowed is Current: another tag is a change of the configuration.
	Pin *Pin
}

// Outdated compares the installed versions with those that registries and
// repositories offer, of every call whose source has versions and of every pin of the
// project's own modules, in the order of their paths. The modules must be installed;
// nothing is changed. A call whose origin gave no answer is a *ModuleError; the others are
// returned beside it.
func (in *Installer) Outdated(ctx context.Context, req Request) (_ []Outdated, err error) {
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	modules, failures, err := in.installedTree(ctx, p.openProject)
	if err != nil {
		return nil, err
	}
	s := p.newSelector()
	found := make([]*Outdated, len(modules))
	var wait sync.WaitGroup
	for i, m := range modules {
		wait.Go(func() {
			var err error
			if found[i], err = s.outdated(ctx, p.openProject, m); err != nil {
				failures.addCall(m.call, err)
			}
		})
	}
	wait.Wait()
	var list []Outdated
	for _, o := range found {
		if o != nil {
			list = append(list, *o)
		}
	}
	return list, failures.join()
}

// outdated compares the installed version of a module with those that there are; nil if
// its source has none, and no pin.
func (s *selector) outdated(ctx context.Context, p *openProject, m *module) (*Outdated, error) {
	shown := m.result(p.req.KeepCredentials)
	o := &Outdated{Path: shown.Path, Call: shown.Call, Source: shown.Source}
	switch {
	case m.call.own() && !m.call.from.SelectsVersion():
		pin, err := s.pin(ctx, m.call, p.req.KeepCredentials)
		if pin == nil || err != nil {
			return nil, err
		}
		o.Current, o.Allowed, o.Latest, o.Pin = pin.Version, pin.Version, pin.LatestVersion, pin
		return o, nil
	case !m.ownsPackage() || !m.call.from.SelectsVersion():
		return nil, nil
	}
	offered, err := s.offered(ctx, m.call)
	if err != nil {
		return nil, err
	}
	p.addRecorded(m, &shown)
	old, _ := s.byAge(m.call, offered)
	o.Current, o.Allowed, o.Latest = shown.Version, newestOf(old, m.call.from.Want), newestOf(old, versions.Constraints{})
	return o, nil
}

// newestOf returns the newest version that is wanted, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}

// OutdatedProvider is a provider and the versions that there are of it.
type OutdatedProvider struct {
	Provider addrs.Provider
	// RequiredBy are the places that require it, and Constraints what they ask for
	// together.
	RequiredBy  []ProviderUse
	Constraints string
	// Current is the locked version, Allowed the newest that all modules allow, Latest
	// the newest stable one. "" stands for none.
	Current, Allowed, Latest string
}

// OutdatedProviders compares the locked versions of the providers with those that their
// sources offer, in the order of the lock. The modules must be installed; nothing is
// changed. A provider whose source gave no answer is a *[ProviderError]; the others are
// returned beside it.
func (in *Installer) OutdatedProviders(ctx context.Context, req Request) (_ []OutdatedProvider, err error) {
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	required, err := in.requiredProviders(ctx, p.openProject)
	if err != nil {
		return nil, err
	}
	if req.Offline {
		return nil, fmt.Errorf("the versions of providers are not known: %w", ErrOffline)
	}
	lock, err := p.providerLock()
	if err != nil {
		return nil, err
	}
	found, failures := make([]OutdatedProvider, len(required)), make([]error, len(required))
	var wait sync.WaitGroup
	for i, r := range required {
		wait.Go(func() { found[i], failures[i] = p.outdatedProvider(ctx, r, lock) })
	}
	wait.Wait()
	return found, errors.Join(failures...)
}

// outdatedProvider compares the locked version of a provider with those that there are.
func (q *inquiry) outdatedProvider(ctx context.Context, r treeproviders.Required, lock *providerLock) (OutdatedProvider, error) {
	entry, _ := lock.Provider(r.Address)
	o := OutdatedProvider{Provider: r.Address, RequiredBy: r.Uses, Constraints: r.Want.String(), Current: entry.Version}
	if err := q.rules.CheckProvider(r.Address); err != nil {
		return o, r.Fail("", err)
	}
	listing, err := q.session.providers.Listing(ctx, r.Address)
	if err != nil {
		return o, r.Fail("", err)
	}
	o.Allowed, o.Latest = treeproviders.Newest(listing, r.Want), treeproviders.Newest(listing, versions.ProviderConstraints{})
	return o, nil
}

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
	p, err := in.openToAsk(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	calls, err := in.ownCalls(ctx, p.openProject)
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
		if c.from.IsLocal() {
			return localModule(c, p.dirs.Root)
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

// mayBeVersion is in the names of all tags that are versions.
var mayBeVersion = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

// pin returns the pin of a call; nil if it has none.
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

// EditError is a source address that cannot be edited.
type EditError struct {
	// Pin is what it has, and Reason says why it stays.
	Pin    Pin
	Reason string
}

func (e *EditError) Error() string { return e.Reason }

// EditPins writes the newest tags of outdated pins into the configuration of a request,
// in the place of the tags that they have. Nothing else in the files changes. If one of
// them cannot be edited, none is, and the error is a *ModuleError over *[EditError].
// Installing what the configuration has then is up to the caller.
func EditPins(req Request, pins []Pin) error {
	files := make(map[string][]Pin)
	for _, pin := range pins {
		file := pin.Call.SourceRange.Filename
		if !pin.Outdated() || slices.ContainsFunc(files[file], pin.samePlace) {
			continue // a module that several calls have is one file
		}
		files[file] = append(files[file], pin)
	}
	edited := make(map[string][]byte)
	read := make(map[string][]byte)
	for file, pins := range files {
		src, err := os.ReadFile(filepath.Join(req.dir(), filepath.FromSlash(file)))
		if err != nil {
			return err
		}
		if edited[file], err = splice(src, pins); err != nil {
			return err
		}
		read[file] = src
	}
	for _, file := range slices.Sorted(maps.Keys(edited)) {
		name := filepath.Join(req.dir(), filepath.FromSlash(file))
		if err := atomicfile.WriteFile(name, edited[file], atomicfile.Options{Swap: true, Old: read[file]}); err != nil {
			return err
		}
	}
	return nil
}

func (p Pin) samePlace(other Pin) bool {
	return p.Call.SourceRange.Start.Byte == other.Call.SourceRange.Start.Byte
}

// splice replaces the addresses of pins in a file, the last one first.
func splice(src []byte, pins []Pin) ([]byte, error) {
	slices.SortFunc(pins, func(a, b Pin) int { return cmp.Compare(b.Call.SourceRange.Start.Byte, a.Call.SourceRange.Start.Byte) })
	src = slices.Clone(src)
	for _, pin := range pins {
		rng := pin.Call.SourceRange
		fail := func(reason string) error {
			return &ModuleError{Path: pin.Path, Source: addrs.Redact(pin.Call.Source), Range: rng, Err: &EditError{pin, reason}}
		}
		start, end := rng.Start.Byte, rng.End.Byte
		switch {
		case pin.literal == "":
			return nil, fail("the source is computed by an expression, so it cannot be edited")
		case start < 0 || end > len(src) || start > end || string(src[start:end]) != pin.literal:
			return nil, fail("the source is not written as a plain string, so it cannot be edited")
		}
		address, ok := addrs.ReplaceArg(pin.literal[1:len(pin.literal)-1], pin.Argument, pin.LatestTag)
		if !ok {
			return nil, fail(fmt.Sprintf("the source does not have the argument %q once, so it cannot be edited", pin.Argument))
		}
		src = slices.Replace(src, start, end, []byte(`"`+address+`"`)...)
	}
	return src, nil
}

// newSelector returns what selects among the versions that origins have.
func (q *inquiry) newSelector() *selector {
	return &selector{origins: q.origins, events: q.events, lock: q.lock}
}
