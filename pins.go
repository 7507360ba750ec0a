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

// Pin is a call in one of the project's own modules, with a source address that names a
// version tag, such as "?ref=v1.2.0" or "?tag=1.2.0".
type Pin struct {
	// Path is the called module's path, and Call the block that calls it.
	Path addrs.Module
	Call ModuleCall
	// Argument is the argument of the address: "ref", or "tag" for an OCI repository.
	Argument string
	// Tag is the tag in the address, and Version the version that it denotes.
	Tag, Version string
	// LatestTag and LatestVersion are those of the newest stable version, ignoring versions
	// that are too young for the request's policies. They equal Tag and Version if there is
	// no newer version.
	LatestTag, LatestVersion string

	literal string // the source as written in the file, with its quotation marks
}

// Outdated reports whether there is a newer version.
func (p Pin) Outdated() bool { return p.Tag != p.LatestTag }

// Pins finds the pins of a configuration, sorted by path, and asks their origins for the
// newest tags. The modules need not be installed, and nothing is changed. If an origin does
// not answer, the error contains a *ModuleError for the pin; the other pins are still
// returned.
func (in *Installer) Pins(ctx context.Context, req Request) (_ []Pin, err error) {
	p, err := openToAsk(ctx, in, req)
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
			return localModule(c, q.dirs.Root)
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

// sameSpelling returns the versions whose tags have the same prefix as the given tag, such
// as "v".
func sameSpelling(offered []versions.Candidate, as versions.Candidate) []versions.Candidate {
	prefix, _ := strings.CutSuffix(as.Ref, as.Version.String())
	return slices.DeleteFunc(slices.Clone(offered), func(v versions.Candidate) bool {
		own, _ := strings.CutSuffix(v.Ref, v.Version.String())
		return own != prefix
	})
}

// EditError says that a source address cannot be edited.
type EditError struct {
	// Pin is the pin with the address, and Reason says why it cannot be edited.
	Pin    Pin
	Reason string
}

func (e *EditError) Error() string { return e.Reason }

// EditPins replaces the tags of outdated pins with the newest tags, in the configuration of
// a request. Nothing else in the files changes. If one of the pins cannot be edited, no
// file is changed and the error is a *ModuleError that wraps an *[EditError]. The caller
// must install the new versions.
func EditPins(req Request, pins []Pin) error {
	files := make(map[string][]Pin)
	for _, pin := range pins {
		file := pin.Call.SourceRange.Filename
		if !pin.Outdated() || slices.ContainsFunc(files[file], pin.sameRange) {
			continue // several calls of one local module read the same file
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

func (p Pin) sameRange(other Pin) bool {
	return p.Call.SourceRange.Start.Byte == other.Call.SourceRange.Start.Byte
}

// splice replaces the addresses of pins in a file, starting with the last one.
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
			return nil, fail(fmt.Sprintf("the source does not have the argument %q exactly once, so it cannot be edited", pin.Argument))
		}
		src = slices.Replace(src, start, end, []byte(`"`+address+`"`)...)
	}
	return src, nil
}
