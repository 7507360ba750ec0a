package cotter

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
)

// compareConfig says where the configuration and the lock do not fit together:
// calls without an entry, and entries for another source or another constraint.
// It looks into installed modules as far as they are there; what is missing is
// not its business.
func (l *loader) compareConfig(ctx context.Context, report *Report) error {
	config, err := l.in.config(l.req)
	if err != nil {
		return err
	}
	w := &walker{
		config:   config,
		dialect:  l.dialect,
		resolve:  l.resolveLocked,
		warn:     func(*node, *hcl.Diagnostic) {},
		parallel: l.in.parallel(),
	}
	_, failures := w.survey(ctx, &node{dir: ".", now: l.req.dir()})
	for _, f := range failures.sorted() {
		var unreadable *ConfigError
		switch {
		case errors.As(f.err, &unreadable):
			report.Unread = append(report.Unread, f.err)
		case !errors.Is(f.err, ErrNotInstalled):
			report.Stale = append(report.Stale, f.err)
		}
	}
	return ctx.Err()
}

// resolveLocked is resolve for calls that the lock must have an entry for.
func (l *loader) resolveLocked(ctx context.Context, n *node) error {
	if err := parseCall(n, l.dialect); err != nil {
		return err
	}
	if _, ok := n.source.(addrs.ModuleSourceLocal); !ok {
		entry, locked := l.lock.Module(n.path.String())
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
	return l.resolve(ctx, n)
}
