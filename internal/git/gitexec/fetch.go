package gitexec

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// Refs of the store keep objects from being pruned, and tell a server which objects it has.
const (
	storeCommits = "refs/cotter/commit/"
	storeNames   = "refs/cotter/name/"
	storeAll     = "refs/cotter/all/"
)

const (
	oneCommit = "--depth=1"
	// allHistory is git's infinity. Unlike --unshallow, it works if the repository is not shallow.
	allHistory = "--depth=2147483647"
	// Servers without filters send everything; others refuse some. Git remembers a filter.
	onlyCommits = "--filter=tree:0"
	noFiles     = "--filter=blob:none"
	noFilter    = "--no-filter"
)

func (r *Repository) resolve(ctx context.Context, want git.Want) (git.Fetched, error) {
	if id := want.Known(); id != "" {
		return git.Fetched{ID: id}, r.fetchCommit(ctx, id, want)
	}
	fetched, err := r.fetchRef(ctx, want.Ref)
	if branch := git.OriginBranch(want.Ref); branch != "" && errors.Is(err, git.ErrRefNotFound) {
		if fetched, failed := r.fetchRef(ctx, branch); !errors.Is(failed, git.ErrRefNotFound) {
			return fetched, failed
		}
	}
	short := strings.ToLower(want.Ref)
	if !errors.Is(err, git.ErrRefNotFound) || !git.IsShortID(short) {
		return fetched, err
	}
	id, failed := r.expand(ctx, short)
	switch {
	case failed != nil:
		return git.Fetched{}, failed
	case id == "":
		return git.Fetched{}, err
	}
	return git.Fetched{ID: id}, r.fetchCommit(ctx, id, git.Want{ID: id})
}

// fetchCommit fetches the ref, and then all refs, if the server only sends commits that refs point to.
func (r *Repository) fetchCommit(ctx context.Context, id string, want git.Want) error {
	err := r.fetchRefs(ctx, []string{oneCommit}, commitSpec(id))
	switch {
	case err == nil:
		return nil
	case says(err, saysNoCommit):
		return fmt.Errorf("%w: the repository does not have %s: %w", git.ErrRevisionNotFound, id, err)
	case isAnswer(err), says(err, saysOtherFormat), says(err, saysBadTransfer):
		return err
	}
	if want.ID != "" && want.Ref != "" && !git.IsObjectID(want.Ref) {
		// The ref may no longer exist, so its error is ignored.
		if _, err := r.fetchRef(ctx, want.Ref); err == nil && r.has(ctx, id) {
			return nil
		}
	}
	// --prune removes the refs of earlier fetches, because a former branch "a" would conflict with "a/b".
	if all := r.fetchRefs(ctx, []string{allHistory, "--prune"}, allRefs[:]...); all != nil {
		return fmt.Errorf("%w; asked for all refs instead: %w", err, all)
	}
	if !r.has(ctx, id) {
		return fmt.Errorf("%w: no tag or branch of the repository points to %s: %w", git.ErrRevisionNotFound, id, err)
	}
	return nil
}

var allRefs = [...]string{"+refs/heads/*:" + storeAll + "heads/*", "+refs/tags/*:" + storeAll + "tags/*"}

// fetchCommits leaves out as many trees and files as the server can.
func (r *Repository) fetchCommits(ctx context.Context, options []string, refspecs ...string) error {
	var err error
	for _, filter := range []string{onlyCommits, noFiles, noFilter} {
		err = r.fetchRefs(ctx, append(options[:len(options):len(options)], filter), refspecs...)
		if !says(err, saysNoFilter) {
			break
		}
	}
	return err
}

// fetchRef passes the name to git, which resolves it by the same rule as package git.
func (r *Repository) fetchRef(ctx context.Context, ref string) (git.Fetched, error) {
	name := cmp.Or(ref, git.Head)
	err := r.fetchRefs(ctx, []string{oneCommit}, fmt.Sprintf("+%s:%s%x", name, storeNames, sha256.Sum256([]byte(name))))
	if says(err, saysNoRef) {
		return git.Fetched{}, fmt.Errorf("%w: %q", git.ErrRefNotFound, ref)
	}
	if err != nil {
		return git.Fetched{}, err
	}
	id, used, err := r.store.fetchHead()
	if err != nil {
		return git.Fetched{}, err
	}
	if !slices.Contains(git.Candidates(ref), used) {
		return git.Fetched{}, fmt.Errorf("%w: git used %q for the ref %q", git.ErrDamaged, used, ref)
	}
	return git.Fetched{ID: id, Chosen: r.chosen(ref, used)}, nil
}

func commitSpec(id string) string { return "+" + id + ":" + storeCommits + id }

// advertised matches a ref in git's packet trace. The commit of an annotated tag is in the same line, or in a
// line of its own from old servers.
var advertised = lazyregexp.New(`< ([0-9a-f]{40}|[0-9a-f]{64}) ((?:refs/|HEAD)[^ \\]*)(?: peeled:([0-9a-f]{40,64}))?`)

// chosen returns the ref that git used, and another one that the name could have meant. Only the packet
// trace has that. If its format is unknown, there is none.
func (r *Repository) chosen(ref, found string) git.Chosen {
	trace, err := os.Open(r.network.PacketTrace)
	if err != nil {
		return git.Chosen{}
	}
	defer trace.Close()
	refs, candidates := git.Refs{}, git.Candidates(ref)
	for lines := bufio.NewScanner(trace); lines.Scan(); {
		m := advertised().FindStringSubmatch(lines.Text())
		if m == nil || !slices.Contains(candidates, strings.TrimSuffix(m[2], "^{}")) {
			continue
		}
		refs.Add(m[1], m[2])
		if m[3] != "" {
			refs.Add(m[3], m[2]+"^{}")
		}
	}
	if chosen := refs.Choose(ref); chosen.Name == found {
		return chosen
	}
	return git.Chosen{}
}
