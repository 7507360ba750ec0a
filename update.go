package cotter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/versions"
)

// ErrDowngrade says that an update would lead to a lower version than the
// locked one, which the request does not allow.
var ErrDowngrade = errors.New("the update leads to a lower version than the locked one")

// checkUpgradeTo checks a request that asks for one version.
func (r Request) checkUpgradeTo() error {
	if r.UpgradeTo == "" {
		return nil
	}
	if len(r.UpgradeKeys) != 1 {
		return errors.New("a version to update to needs just one module call to update")
	}
	_, err := versions.Parse(r.UpgradeTo)
	return err
}

// wanted are the versions that a call may select: those of its constraint, or
// the one that the request names.
func (r *run) wanted(n *node) (versions.Constraints, error) {
	if shared, ok := r.unifier.pick(n); ok {
		return versions.ParseConstraints(shared.String())
	}
	if r.req.UpgradeTo == "" || !slices.Contains(r.req.UpgradeKeys, n.path.String()) {
		return n.want, nil
	}
	to, err := versions.Parse(r.req.UpgradeTo)
	if err != nil {
		return versions.Constraints{}, n.fail(err)
	}
	if !n.hasVersions() {
		return versions.Constraints{}, n.fail(fmt.Errorf("there is no version %s to update to: the source names what it means", to))
	}
	if !n.want.Allows(to) {
		return versions.Constraints{}, n.failVersion(fmt.Errorf("the constraint %q does not allow version %s: change the constraint first", n.want, to))
	}
	return versions.ParseConstraints(to.String())
}

// hasVersions reports whether the call selects one of several versions.
func (n *node) hasVersions() bool {
	_, ok := n.source.(addrs.ModuleSourceRegistry)
	return ok || n.ranged
}

// checkDirection refuses an update to a lower version. A constraint that has
// changed to allow only lower ones is the user's word, and is followed.
func (r *run) checkDirection(n *node, version string) error {
	key := n.path.String()
	entry, locked := r.lock.Module(key)
	if !locked || r.req.AllowDowngrade || !r.req.upgrades(key) || entry.Source != lockAddress(n.source) {
		return nil
	}
	was, err := versions.Parse(entry.Version)
	if err != nil {
		return nil // there was none
	}
	is, err := versions.Parse(version)
	if err != nil || is.Compare(was) >= 0 || !n.want.Allows(was) {
		return nil
	}
	return n.failVersion(fmt.Errorf("%w: %s -> %s; allow it by --allow-downgrade", ErrDowngrade, was, is))
}
