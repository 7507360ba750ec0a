package cotter

import (
	"context"
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
}

// Outdated compares the installed versions with those that registries and
// repositories offer, of every call whose source has versions, in the order of
// their paths. The modules must be installed; nothing is changed. A call whose
// origin gave no answer is a *ModuleError; the others are returned beside it.
func (in *Installer) Outdated(ctx context.Context, req Request) ([]Outdated, error) {
	l, err := in.loader(ctx, req)
	if err != nil {
		return nil, err
	}
	if l.rules, err = req.readRules(); err != nil {
		return nil, err
	}
	nodes, failures, err := l.survey(ctx)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	shared, done, err := in.sharedSession(l.key)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &run{in: in, req: req, events: &events{fn: in.OnEvent}, rules: l.rules, lock: l.lock, dialect: l.dialect, session: shared}
	found := make([]*Outdated, len(nodes))
	var wait sync.WaitGroup
	for i, n := range nodes {
		if !n.ownsPackage() || !takesVersion(n.source) {
			continue
		}
		wait.Go(func() {
			offered, err := r.offers(ctx, n)
			if err != nil {
				failures.add(n, err)
				return
			}
			if offered != nil {
				old, _ := r.oldEnough(n, offered)
				found[i] = &Outdated{
					Path: n.path, Call: n.call, Source: n.source,
					Current: l.module(n).Version,
					Allowed: newestOf(old, n.want),
					Latest:  newestOf(old, versions.Constraints{}),
				}
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

// offers lists the versions that there are for a call; nil where its source
// names one revision.
func (r *run) offers(ctx context.Context, n *node) ([]versions.Candidate, error) {
	switch source := n.source.(type) {
	case addrs.ModuleSourceRegistry:
		return r.offeredVersions(ctx, n, source)
	case addrs.ModuleSourceRemote:
		if n.ranged {
			return r.offeredTags(ctx, n)
		}
	}
	return nil, nil
}

// newestOf is the newest version that is wanted, or "".
func newestOf(offered []versions.Candidate, want versions.Constraints) string {
	selected, err := versions.Select(offered, want)
	if err != nil {
		return ""
	}
	return selected.Version.String()
}
