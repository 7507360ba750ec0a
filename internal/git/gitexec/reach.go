package gitexec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/cotterpin/cotter/internal/git"
)

// nearby are generations. The first is enough for most commits that a branch had some weeks ago.
var nearby = [...]int{100, 3000}

const (
	// maxRefspecs bounds the objects that one command requests.
	maxRefspecs    = 100
	maxCommitBytes = 16 << 20
)

// saysNoHistory is for servers that only have files, and for old faults in a history.
var saysNoHistory = []string{"dumb http transport", "fsck error"}

func (r *Repository) Reachable(ctx context.Context, commits []git.Want, limits git.HistoryLimits) (map[string]git.Reach, error) {
	// With HEAD, git would request all refs.
	refs, err := r.Refs(ctx, git.Heads, git.Tags)
	if err != nil {
		return nil, err
	}
	s := &history{Repository: *r}
	s.store = store{dir: filepath.Join(r.Scratch, "history")}
	for _, ref := range refs {
		s.store.format = objectFormat(ref.ID)
	}
	if err := s.store.reinit(cmp.Or(s.store.format, "sha1")); err != nil {
		return nil, err
	}
	found, err := git.FindReach(ctx, refs, commits, limits, s)
	r.received += s.transferred
	return found, explain(r.URL, err)
}

// history is for one search, in a store of its own. Git cannot leave out the history of a commit that it
// does not have, so it requests the newest generations first.
type history struct {
	Repository
	transferred int64
}

func (s *history) Commits(ctx context.Context, h *git.History, refs []git.Ref, stop []string) error {
	if len(stop) > 0 {
		for _, depth := range nearby {
			done, err := s.fetchHistory(ctx, h, fmt.Sprintf("--depth=%d", depth), refs, stop)
			if done || err != nil {
				return err
			}
		}
		return nil
	}
	_, err := s.fetchHistory(ctx, h, allHistory, refs, nil)
	return err
}

// fetchHistory adds a part of the history to h. It reports whether all commits in stop were found.
func (s *history) fetchHistory(ctx context.Context, h *git.History, extent string, refs []git.Ref, stop []string) (done bool, err error) {
	specs := allRefs[:]
	if len(refs) <= maxRefspecs {
		specs = nil
		for _, ref := range refs {
			specs = append(specs, commitSpec(ref.ID))
		}
	}
	s.MaxBytes = h.Left().Bytes
	before := s.store.packBytes()
	err = s.fetchCommits(ctx, []string{extent, "--update-shallow"}, specs...)
	received := s.store.packBytes() - before
	h.Received(received)
	s.transferred += received
	switch {
	case says(err, saysNoHistory):
		return false, fmt.Errorf("%w: %w", git.ErrNoHistory, err)
	case err != nil:
		return false, err
	}
	// Git has noted that the server has what is missing here. Without the note, it does not fetch that.
	if err := s.store.writeConfig(); err != nil {
		return false, err
	}
	objects, err := OpenCatFile(ctx, s.Git, s.store.dir)
	if err != nil {
		return false, err
	}
	defer objects.Close()
	return h.Collect(refs, stop, func(id string) ([]byte, error) {
		return commitOf(objects, h, id)
	})
}

// commitOf returns the content of a commit; nil if there is none. Another object is added to h.
func commitOf(objects *CatFile, h *git.History, id string) ([]byte, error) {
	object, kind, err := objects.Object(id)
	switch {
	case err != nil || object == nil:
		return nil, err
	case object.ID != id:
		return nil, fmt.Errorf("%w: want %s, have %s", git.ErrDamaged, id, object.ID)
	case kind == git.KindCommit:
		return object.Bytes(maxCommitBytes)
	}
	h.AddOther(id)
	_, err = io.Copy(io.Discard, object)
	return nil, err
}

// Lacks fetches the commit alone, because not all servers say what they lack.
func (s *history) Lacks(ctx context.Context, id string) (bool, error) {
	single := s.Repository
	single.store = store{dir: filepath.Join(s.Scratch, "commit")}
	if err := single.store.reinit(objectFormat(id)); err != nil {
		return false, err
	}
	before := single.store.packBytes()
	err := single.fetchCommits(ctx, []string{oneCommit}, commitSpec(id))
	s.transferred += single.store.packBytes() - before
	if isCancelled(err) || errors.Is(err, ErrNoGit) {
		return false, err
	}
	return says(err, saysNoCommit), nil // after any other error it is not known
}
