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
