package installer

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/process/ctxerr"
	"github.com/cotterpin/cotter/versions"
)

// Pins finds the pins of a configuration, sorted by path, and asks their origins for the newest stable versions
// that are old enough for the project's policies. The modules need not be installed. If an origin does not answer,
// or does not offer the version To, the error contains a *[ModuleError], and the result has the other pins.
func (in *Installer) Pins(ctx context.Context, project Project, o PinOptions) (_ []Pin, err error) {
	defer ctxerr.Keep(ctx, &err)
	update := Update{Keys: o.Keys, All: o.All, To: o.To, AllowDowngrade: o.AllowDowngrade}
	ctx, p, err := openToAsk(ctx, in, request{Project: project, InstallOptions: InstallOptions{Update: update}})
	if err != nil {
		return nil, err
	}
	defer func() { err = join(err, p.close()) }()
	calls, err := p.ownCalls(ctx)
	if err != nil {
		return nil, err
	}
	if !update.All && len(update.Keys) > 0 {
		calls = slices.DeleteFunc(calls, func(c *call) bool { return !update.has(c.Key()) })
	}
	s := p.newSelector()
	s.update = update
	pins, failures := make([]*Pin, len(calls)), make([]error, len(calls))
	var wait sync.WaitGroup
	for i, c := range calls {
		wait.Go(func() { pins[i], failures[i] = s.pin(ctx, c, project.KeepCredentials) })
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

var errElsewhere = errors.New("the module is not in the project")

// ownCalls returns the calls from the project's own modules to modules outside the project, sorted by path.
func (q *inquiry) ownCalls(ctx context.Context) ([]*call, error) {
	var mu sync.Mutex
	var calls []*call
	_, failures, err := q.walk(ctx, func(_ context.Context, c *call) (*module, error) {
		if c.From.IsLocal() {
			return q.LocalModule(c)
		}
		if c.Replaced != nil {
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
	for _, err := range failures.Errs() {
		if !errors.Is(err, errElsewhere) {
			return nil, err
		}
	}
	slices.SortFunc(calls, func(a, b *call) int { return strings.Compare(a.Key(), b.Key()) })
	return calls, nil
}

var mayBeVersion = regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)

func (s *selector) pin(ctx context.Context, c *call, keepCredentials bool) (*Pin, error) {
	find := s.pinnedTag
	if c.From.HasConstraint {
		find = s.pinnedRange
	}
	pin, offered, err := find(ctx, c)
	if pin == nil || err != nil {
		return nil, err
	}
	pin.Path = c.Path
	pin.Call, _ = c.Shown(keepCredentials)
	pin.LatestValue, pin.LatestVersion = pin.Value, pin.Version
	newest, err := s.newest(c, pin, offered)
	if err != nil {
		return nil, err
	}
	if newest.Version.IsZero() {
		return pin, nil
	}
	pin.LatestVersion = newest.Version
	if !c.From.HasConstraint {
		old := offered[slices.IndexFunc(offered, func(v versions.Candidate) bool { return v.Version == pin.Version })]
		pin.LatestValue = strings.TrimSuffix(pin.Value, old.Ref) + newest.Ref
		return pin, nil
	}
	var ok bool
	if pin.LatestValue, ok = versions.MoveConstraint(pin.Value, newest.Version); !ok && s.requests(c) {
		return nil, c.FailVersion(&ConstraintError{Constraint: pin.Value, Version: newest.Version, NotEdited: true})
	}
	return pin, nil
}

// pinnedTag returns the pin of a call whose source address names a version tag, with the versions whose tags
// are spelled alike. The pin is nil if the address names no such tag.
func (s *selector) pinnedTag(ctx context.Context, c *call) (*Pin, []versions.Candidate, error) {
	remote, ok := c.From.Address.(addrs.ModuleSourceRemote)
	if !ok || !callsource.HasTags(remote.Package) {
		return nil, nil, nil
	}
	argument := "ref"
	if remote.Package.Getter() == "oci" {
		argument = "tag"
	}
	name, exact := remote.Package.Ref()
	if exact || name == "" || name != remote.Package.Arg(argument) || !mayBeVersion.MatchString(name) {
		return nil, nil, nil
	}
	tag := strings.TrimPrefix(name, "refs/tags/")
	anyTag := c.From
	anyTag.Repository = remote.Package.Unpinned()
	offered, err := s.origins.TagVersions(ctx, anyTag)
	if err != nil {
		return nil, nil, c.Fail(err)
	}
	at := slices.IndexFunc(offered, func(v versions.Candidate) bool { return v.Ref == tag })
	if at < 0 {
		return nil, nil, nil // it is a branch, or a tag that is not a version of this directory
	}
	return &Pin{Argument: argument, Range: c.SourceRange, Value: name, Version: offered[at].Version}, sameSpelling(offered, offered[at]), nil
}

func (s *selector) pinnedRange(ctx context.Context, c *call) (*Pin, []versions.Candidate, error) {
	offered, err := s.offered(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	pin := &Pin{Argument: "version", Range: c.VersionRange, Value: c.From.Constraint}
	if c.From.InAddress {
		pin.Range = c.SourceRange
	}
	old, _ := s.byAge(c, offered)
	pin.Version = newestOf(old, c.From.Want)
	return pin, offered, nil
}

// newest returns the version to which a pin can be moved; zero if it has the newest one, or if its constraint
// allows that.
func (s *selector) newest(c *call, pin *Pin, offered []versions.Candidate) (versions.Candidate, error) {
	if s.requests(c) {
		return s.requested(c, pin, offered)
	}
	from := pin.Version
	if from.IsZero() { // nothing that is offered meets the constraint
		from = c.From.Want.Example()
	}
	old, _ := s.byAge(c, offered)
	if s.update.All && !hasPath(s.update.Keys, c.Key()) {
		old = slices.DeleteFunc(slices.Clone(old), func(v versions.Candidate) bool { return Pin{Version: from, LatestVersion: v.Version}.OtherMajor() })
	}
	newest, err := versions.Select(old, versions.Constraints{})
	if err != nil || newest.Version.Compare(from) <= 0 {
		return versions.Candidate{}, nil
	}
	return newest, nil
}

// requested returns the version that the update names; zero if the pin has or allows it already.
func (s *selector) requested(c *call, pin *Pin, offered []versions.Candidate) (versions.Candidate, error) {
	want, err := versions.ParseConstraints(s.update.To.String())
	if err != nil {
		return versions.Candidate{}, c.Fail(err)
	}
	to, err := s.oldEnough(c, offered, want)
	if err != nil {
		return versions.Candidate{}, c.FailVersion(fmt.Errorf("%s: %w", c.From.OfferedBy(), err))
	}
	isTag := !c.From.HasConstraint
	switch {
	case to.Version == pin.Version && isTag, c.From.Want.Allows(to.Version) && !isTag:
		return versions.Candidate{}, nil
	case isTag && to.Version.Compare(pin.Version) < 0 && !s.update.AllowDowngrade:
		return versions.Candidate{}, c.FailVersion(&versions.DowngradeError{Locked: pin.Version, Selected: to.Version})
	}
	return to, s.checkDirection(c, to.Version)
}

// sameSpelling returns the versions whose tags have the same prefix as the given tag, such as "v".
func sameSpelling(offered []versions.Candidate, as versions.Candidate) []versions.Candidate {
	prefix, _ := strings.CutSuffix(as.Ref, as.Version.String())
	return slices.DeleteFunc(slices.Clone(offered), func(v versions.Candidate) bool {
		own, _ := strings.CutSuffix(v.Ref, v.Version.String())
		return own != prefix
	})
}
