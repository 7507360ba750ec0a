package inprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitwire"
)

// Limits of a pack with a history, in relation to [git.HistoryLimits].
const (
	// tagObjects is how many annotated tags a pack may have in addition to commits.
	tagObjects = 50_000
	// objectsPerCommit is for servers that send trees and files as well.
	objectsPerCommit = 16
	// inflation is the ratio between objects and their pack.
	inflation = 8
)

// Servers can refuse some filters.
var filters = [...]string{"tree:0", "blob:none", ""}

func (v *V2) Reachable(ctx context.Context, commits []git.Want, limits git.HistoryLimits) (map[string]git.Reach, error) {
	if slices.ContainsFunc(commits, func(w git.Want) bool { return len(w.ID) != git.SHA1Len }) {
		return nil, errSHA256
	}
	refs, err := v.Refs(ctx, git.Heads, git.Tags, git.Head)
	if err != nil {
		return nil, err
	}
	if len(refs) == 0 {
		// An empty repository, or a server that did not understand the request.
		return nil, fmt.Errorf("%w: the server lists no refs", git.ErrNeedsGit)
	}
	return git.FindReach(ctx, refs, commits, limits, &v2History{V2: v})
}

type v2History struct {
	*V2
	// filters are those that the server may accept; nil before it was asked.
	filters []string
}

// askFeatures asks once for filters. A server that does not answer has none.
func (v *v2History) askFeatures(ctx context.Context) error {
	if v.filters != nil {
		return nil
	}
	features, err := v.Client.Features(ctx, "fetch")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	v.filters = filters[:]
	if err != nil || !slices.Contains(features, "filter") {
		v.filters = filters[len(filters)-1:]
	}
	return nil
}

func (v *v2History) Commits(ctx context.Context, h *git.History, refs []git.Ref, stop []string) error {
	if err := v.askFeatures(ctx); err != nil {
		return err
	}
	for {
		err := v.commits(ctx, h, refs, stop)
		said, ok := errors.AsType[*gitwire.RemoteError](err)
		if !ok || len(v.filters) == 1 || !strings.Contains(said.Message, "filter") {
			return err
		}
		v.filters = v.filters[1:]
	}
}

func (v *v2History) commits(ctx context.Context, h *git.History, refs []git.Ref, stop []string) error {
	left := h.Left()
	limits := v.Limits
	limits.Objects = left.Commits + tagObjects
	if v.filters[0] != filters[0] {
		limits.Objects += objectsPerCommit * left.Commits
	}
	limits.TotalBytes = inflation * left.Bytes
	request := gitwire.Fetch{
		Have: stop, Filter: v.filters[0], Bytes: left.Bytes, Progress: throttled(v.Progress),
	}
	for _, ref := range refs {
		request.Want = append(request.Want, ref.ID)
	}
	bytes, err := v.history(ctx, request, limits, func(pack *PackStream) error {
		_, err := h.Collect(refs, stop, func(id string) ([]byte, error) {
			kind, _, ok := pack.Stat(id)
			switch {
			case !ok:
				return nil, nil
			case kind != git.KindCommit:
				h.AddOther(id)
				return nil, nil
			}
			return pack.Read(id)
		})
		return err
	})
	h.Received(bytes)
	return err
}

// history calls read after all objects were received.
func (v *V2) history(ctx context.Context, request gitwire.Fetch, limits PackLimits, read func(*PackStream) error) (bytes int64, err error) {
	stream, err := v.Client.Fetch(ctx, request)
	if err != nil {
		return 0, err
	}
	pack := StartPack(stream, v.Dir, limits)
	defer func() { err = errors.Join(err, pack.Close()) }()
	bytes, err = pack.Wait()
	v.received += bytes
	if errors.Is(err, ErrTooLarge) {
		err = fmt.Errorf("%w: %w", git.ErrTooLarge, err)
	}
	if err != nil {
		return bytes, err
	}
	return bytes, read(pack)
}

// Lacks requests a commit that the client claims to have: that transfers nothing, but fails if the server does
// not have it.
func (v *v2History) Lacks(ctx context.Context, id string) (bool, error) {
	request := gitwire.Fetch{Want: []string{id}, Have: []string{id}, Bytes: v.MaxBytes}
	_, err := v.history(ctx, request, v.Limits, func(*PackStream) error { return nil })
	if said, ok := errors.AsType[*gitwire.RemoteError](err); ok {
		return errors.Is(said, git.ErrRevisionNotFound), nil
	}
	return false, err
}
