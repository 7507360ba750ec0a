package inprocess

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/cotterpin/cotter/internal/git"
)

// saysNotOurs reports whether a message of a server says that the repository does not have the
// wanted commit.
func saysNotOurs(message string) bool { return strings.Contains(message, "not our ref") }

// saysNoFilter reports whether a message of a server says that it refuses a filter.
func saysNoFilter(message string) bool { return strings.Contains(message, "filter") }

// Reachable implements [git.Repository].
func (r *Repository) Reachable(ctx context.Context, commits []git.Want, limits git.HistoryLimits) (map[string]git.Reach, error) {
	list, err := r.list(ctx)
	if err != nil {
		return nil, err
	}
	return git.FindReach(ctx, list.Refs, commits, limits, &history{r.Source, list})
}

// history is the history of a repository, for one search.
type history struct {
	source Source
	list   *Listing
}

// Commits implements [git.HistorySource].
func (s *history) Commits(ctx context.Context, h *git.History, refs []git.Ref, stop []string) (err error) {
	want := Want{History: true, OnlyCommits: true, Have: stop, Bytes: h.Left().Bytes}
	for _, ref := range refs {
		want.IDs = append(want.IDs, ref.ID)
	}
	before := s.source.Received()
	objects, err := s.source.Fetch(ctx, want)
	h.Received(s.source.Received() - before)
	if err != nil {
		return historyTooLarge(err)
	}
	defer func() { err = errors.Join(err, objects.Close()) }()
	objects.ctx = ctx
	_, err = h.Collect(refs, stop, func(id string) ([]byte, error) {
		obj, err := objects.get(plumbing.NewHash(id))
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case errors.Is(err, plumbing.ErrObjectNotFound):
			return nil, nil
		case err != nil:
			return nil, err
		case obj.Type() != plumbing.CommitObject:
			h.AddOther(id)
			return nil, nil
		}
		content, err := objects.open(named{obj, plumbing.NewHash(id)})
		if err != nil {
			return nil, err
		}
		return content.Bytes(maxCommitBytes)
	})
	return err
}

// maxCommitBytes bounds the size of a commit, in bytes.
const maxCommitBytes = 16 << 20

func historyTooLarge(err error) error {
	if failed, ok := errors.AsType[*Error](err); ok && failed.Kind == TooLarge {
		return fmt.Errorf("%w: %w", git.ErrTooLarge, err)
	}
	return err
}

// Lacks implements [git.HistorySource]. A server that only sends the commits of its refs does
// not say which others it has.
func (s *history) Lacks(ctx context.Context, id string) (bool, error) {
	if _, ok := s.list.leading(id); ok || !s.list.AnyCommit || len(id) != git.SHA1Len {
		return false, nil
	}
	objects, err := s.source.Fetch(ctx, Want{IDs: []string{id}, Have: []string{id}, History: true, OnlyCommits: true})
	if failed, ok := errors.AsType[*Error](err); ok && failed.Kind == Refused {
		return saysNotOurs(failed.Message) || failed.Says("has no object"), nil
	}
	if err != nil {
		return false, err
	}
	return false, objects.Close()
}
