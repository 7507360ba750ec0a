package cotter

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/pkgcache"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// compareConfig says where the configuration and the lock do not fit together:
// calls without an entry, and entries for another source or another constraint;
// where modules.json leads elsewhere than both; and what the policy does not
// allow, as far as it can be told offline. It looks into installed modules as
// far as they are there. Missing packages are reported by compare.
func (l *loader) compareConfig(ctx context.Context, report *Report) error {
	var err error
	if l.rules, err = l.req.readRules(); err != nil {
		return err
	}
	l.checkManifest(&node{dir: ".", now: l.req.dir()})
	l.changed = make(map[string]bool)
	for _, p := range report.Packages {
		l.changed[p.Key] = !p.intact()
	}
	nodes, failures, err := l.surveyBy(ctx, l.resolveLocked)
	if err != nil {
		return err
	}
	for i, p := range report.Packages {
		_, confirmed := l.confirmed.Load(p.Key)
		report.Packages[i].Unconfirmed = p.intact() && !confirmed && l.in.hasState()
	}
	for _, key := range goneEntries(l.lock, nodes, failures) {
		if l.changedAbove(splitKey(key)) {
			continue // what the module calls is not known
		}
		report.Stale = append(report.Stale, &ModuleError{Path: splitKey(key), Err: errors.New("the lock has an entry for it, and the configuration has no such call; run cotter install")})
	}
	for _, f := range failures.sorted() {
		var unreadable *ConfigError
		var refused *policy.Violation
		switch {
		case errors.As(f.err, &refused):
			report.Refused = append(report.Refused, f.err)
		case errors.As(f.err, &unreadable):
			report.Unread = append(report.Unread, f.err)
		case !errors.Is(f.err, ErrNotInstalled):
			report.Stale = append(report.Stale, f.err)
		}
	}
	for _, f := range l.edited.sorted() {
		report.Stale = append(report.Stale, f.err)
	}
	for _, f := range l.misplaced.sorted() {
		report.Misplaced = append(report.Misplaced, f.err)
	}
	return ctx.Err()
}

// changedAbove reports whether a package that leads to a call is not what the lock
// says.
func (l *loader) changedAbove(path addrs.Module) bool {
	for i := range len(path) {
		if l.changed[path[:i].String()] {
			return true
		}
	}
	return false
}

// resolveLocked is resolve for calls that the lock must have an entry for.
func (l *loader) resolveLocked(_ context.Context, n *node) error {
	if err := parseCall(n, l.dialect); err != nil {
		return err
	}
	entry, locked := l.lock.Module(n.path.String())
	if err := l.rules.judge(n, entry, locked); err != nil {
		return err
	}
	if _, ok := n.source.(addrs.ModuleSourceLocal); !ok {
		if !locked {
			return n.fail(errors.New("the lock has no entry for it; run cotter install"))
		}
		if reason := staleness(entry, n); reason != "" {
			return n.fail(errors.New(reason + "; run cotter install"))
		}
		if entry.Constraints != n.want.String() {
			return n.failVersion(errors.New(constraintChanged(entry, n) + "; run cotter install"))
		}
	}
	l.checkFormer(n, entry)
	if l.isConfirmed(n, entry) {
		l.confirmed.Store(entry.Key, true)
	}
	return l.placeLocked(n, entry)
}

// isConfirmed reports whether an origin has confirmed an entry: for the last run
// in this project, or for another one that uses the cache.
func (l *loader) isConfirmed(n *node, entry lockfile.Module) bool {
	if l.former != nil {
		if old, ok := l.former.Module(entry.Key); ok && claim(old) == claim(entry) {
			return true
		}
	}
	return l.in.CacheDir != "" && pkgcache.IsConfirmed(l.in.CacheDir, l.key, n.claim(entry))
}

// checkFormer compares an entry of the lock with that by which its package was
// installed, if the files do not differ: what they are says nothing about
// where they are from.
func (l *loader) checkFormer(n *node, entry lockfile.Module) {
	if l.former == nil || l.changed[entry.Key] {
		return
	}
	old, ok := l.former.Module(entry.Key)
	if differing := differences(entry, old); ok && len(differing) > 0 {
		l.edited.add(n, n.fail(fmt.Errorf("the lock is not what it was installed by: %s; run cotter install", strings.Join(differing, ", "))))
	}
}
