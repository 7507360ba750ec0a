package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
)

// confirmHashes says in the changes, one for each provider, whether the sources of providers have the hashes that only the
// new lock has: an invented hash would let other content pass later. With --remote, the sources are asked. Otherwise, what
// an earlier run has got from them counts, and nothing is said of other hashes.
func confirmHashes(ctx context.Context, cmd *invocation, in *installer.Installer, out *output, req request, providers []lockfile.ProviderChange, changes []records.EntryChange) error {
	var entries []lockfile.Provider
	var of []*records.EntryChange
	for i, p := range providers {
		if p.New == nil {
			continue
		}
		entry := *p.New
		if p.Old != nil {
			entry.Hashes, _ = p.Hashes()
		}
		if len(entry.Hashes) > 0 {
			entries, of = append(entries, entry), append(of, &changes[i])
		}
	}
	if entries == nil {
		return nil
	}
	req, err := inNew(cmd, out, req)
	if err != nil {
		return err
	}
	remote := cmd.Bool("remote")
	origins, err := installerinternal.ProviderOrigins(ctx, in, req.Project, !remote, entries)
	switch {
	case err != nil && !remote:
		return nil //nolint:nilerr // locks can be compared without a project
	case err != nil:
		return err
	}
	for i, o := range origins {
		c := of[i]
		if !remote && !o.OK() {
			continue
		}
		c.HashesConfirmed, c.UnknownHashes = o.OK(), o.Unknown
		switch {
		case o.OK() && !remote:
			c.Details = append(c.Details, "an earlier run has got all added hashes from "+sourceOf(o))
		case o.OK():
			c.Details = append(c.Details, fmt.Sprintf("%s has all added hashes", sourceOf(o)))
		case o.Moved():
			c.Details = append(c.Details, originProviderText(o))
		default:
			c.Details = append(c.Details, "the added hashes could not be compared: "+advice.MessageOf(cmp.Or(o.Err, errUnknown)).Text)
		}
	}
	return nil
}
