package cotter

import (
	"context"
	"errors"
	"sync"

	"github.com/cotterpin/cotter/addrs"
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
// project's own modules, in the order of their paths. The modules must be installed; nothing is changed. A call whose
// origin gave no answer is a *ModuleError; the others are returned beside it.
func (in *Installer) Outdated(ctx context.Context, req Request) (_ []Outdated, err error) {
	p, err := in.view(ctx, req)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.readRules(); err != nil {
		return nil, err
	}
	modules, failures, err := in.installedTree(ctx, p)
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
	found := make([]*Outdated, len(modules))
	var wait sync.WaitGroup
	for i, m := range modules {
		if m.call.own() && !m.call.selectsVersion() {
			wait.Go(func() {
				pin, err := s.pin(ctx, m.call, req.KeepCredentials)
				if err != nil {
					failures.addCall(m.call, err)
				}
				if pin != nil {
					shown := m.result(req.KeepCredentials)
					found[i] = &Outdated{
						Path: shown.Path, Call: shown.Call, Source: shown.Source,
						Current: pin.Version, Allowed: pin.Version, Latest: pin.LatestVersion, Pin: pin,
					}
				}
			})
			continue
		}
		if !m.ownsPackage() || !m.call.selectsVersion() {
			continue
		}
		wait.Go(func() {
			offered, err := s.offered(ctx, m.call)
			if err != nil {
				failures.addCall(m.call, err)
				return
			}
			shown := m.result(req.KeepCredentials)
			p.addRecorded(m, &shown)
			old, _ := s.byAge(m.call, offered)
			found[i] = &Outdated{
				Path: shown.Path, Call: shown.Call, Source: shown.Source,
				Current: shown.Version,
				Allowed: newestOf(old, m.call.want),
				Latest:  newestOf(old, versions.Constraints{}),
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

// newestOf returns the newest version that is wanted, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}
