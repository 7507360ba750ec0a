package cotter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// rules are the policies that a run is subject to: what one of them refuses is
// refused.
type rules []*policy.Policy

// each is the first violation that check finds.
func (r rules) each(check func(*policy.Policy) error) error {
	for _, p := range r {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

// judge judges a call by what is written: in the configuration, and in the lock
// where that has an entry for it.
func (r rules) judge(n *node, entry lockfile.Module, locked bool) error {
	call := policy.Call{Source: n.source, Constraint: n.want, Own: n.parent.pkg == nil}
	if err := r.each(func(p *policy.Policy) error { return p.CheckCall(call) }); err != nil {
		return n.fail(err)
	}
	if !locked || entry.Source != lockAddress(n.source) {
		return nil // it is of no use to this call
	}
	pkg, _ := splitPackage(entry.Package)
	if err := r.allow(pkg); err != nil {
		return n.fail(fmt.Errorf("the lock has package %s: %w", pkg.Redacted(), err))
	}
	return nil
}

// allow judges a place to which something other than the call leads.
func (r rules) allow(pkg addrs.ModulePackage) error {
	return r.each(func(p *policy.Policy) error { return p.CheckPackage(pkg) })
}

// restrictPlaces reports whether it matters where a package is from.
func (r rules) restrictPlaces() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return len(p.Allow)+len(p.Deny) > 0 })
}

// key is the same for rules that allow the same places.
func (r rules) key() string {
	var b strings.Builder
	for _, p := range r {
		fmt.Fprintf(&b, "allow %q deny %q\n", p.Allow, p.Deny)
	}
	return b.String()
}

func (r rules) wantAge() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.MinAge > 0 })
}

func (r rules) denyBranches() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.DenyBranches })
}

// judgeLocation judges where a registry says that a package is.
func (r *run) judgeLocation(ctx context.Context, n *node, at location) error {
	err := r.rules.each(func(p *policy.Policy) error {
		return errors.Join(p.CheckPackage(at.pkg), p.CheckRef(at.pkg))
	})
	if err == nil {
		err = r.judgeRef(ctx, n, at)
	}
	if err != nil {
		return fmt.Errorf("the registry leads to %s: %w", at.pkg.Redacted(), err)
	}
	return nil
}

// judgeRef asks the origin whether an address leads to a branch, where the
// rules want to know and the address does not tell. That takes a request even
// where the lock has the commit: it does not have the kind of the ref.
func (r *run) judgeRef(ctx context.Context, n *node, at location) error {
	if !r.rules.denyBranches() || at.pkg.Getter() != "git" {
		return nil
	}
	if r.req.Offline {
		r.warn(n.path, "whether its ref is a branch, which the policy denies, cannot be told without asking its origin")
		return nil
	}
	reference, err := r.reference(ctx, n, at, "")
	if err != nil {
		return err
	}
	return r.rules.each(func(p *policy.Policy) error { return p.CheckReference(reference.String()) })
}
