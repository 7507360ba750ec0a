package gitexec

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/httpx"
)

// queues have the fetches that wait for the lock of a store. The fetch that gets it fetches for all others
// in the same queue, with one "git fetch".
type queues struct {
	mu      sync.Mutex
	waiting map[queueKey][]*queued
}

// queueKey is equal for fetches of the same remote, with the same credentials, under the same policy.
type queueKey httpx.Shared[[sha256.Size]byte]

type queued struct {
	want    git.Want
	deliver func()
	// These are protected by queues.mu.
	delivered bool
	fetched   git.Fetched
}

func (r *Repository) queueKey(ctx context.Context) queueKey {
	password, _ := r.User.Password() // a nil User has none
	text := fmt.Sprintf("%q %q %q %q %q %q %q %q %d",
		cmp.Or(r.store.cached.dir, r.store.dir), r.URL.String(), r.Protocols, r.Direct, r.User.Username(), password, r.SSHKey, r.Secrets, r.MaxBytes)
	return queueKey(httpx.Share(ctx, sha256.Sum256([]byte(text))))
}

// add returns a context that ends when another fetch has delivered the commit.
func (q *queues) add(ctx context.Context, key queueKey, want git.Want) (context.Context, *queued) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	own := &queued{want: want, deliver: cancel}
	if q.waiting == nil {
		q.waiting = map[queueKey][]*queued{}
	}
	q.waiting[key] = append(q.waiting[key], own)
	return ctx, own
}

// leave returns the commit that another fetch has delivered, if there is one.
func (q *queues) leave(key queueKey, own *queued) (git.Fetched, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own.deliver()
	q.waiting[key] = slices.DeleteFunc(q.waiting[key], func(other *queued) bool { return other == own })
	if len(q.waiting[key]) == 0 {
		delete(q.waiting, key)
	}
	return own.fetched, own.delivered
}

// takeAll empties a queue. What is not delivered from it is fetched alone.
func (q *queues) takeAll(key queueKey) []*queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.waiting[key]
	delete(q.waiting, key)
	return all
}

func (q *queues) deliver(to *queued, fetched git.Fetched) {
	q.mu.Lock()
	defer q.mu.Unlock()
	to.fetched, to.delivered = fetched, true
	to.deliver()
}

// fetchQueued fetches what all waiting fetches want. If that fails, as for a ref that does not exist, all
// of them are fetched one by one.
func (r *Repository) fetchQueued(ctx context.Context, want git.Want, waiting []*queued) (fetched git.Fetched, ok bool) {
	if len(waiting) == 0 || len(waiting) >= maxRefspecs {
		return git.Fetched{}, false
	}
	wants := []git.Want{want}
	for _, other := range waiting {
		wants = append(wants, other.want)
	}
	var specs []string
	for _, w := range wants {
		if spec := refspec(w); !slices.Contains(specs, spec) {
			specs = append(specs, spec)
		}
	}
	if err := r.fetchRefs(ctx, []string{oneCommit}, specs...); err != nil {
		return git.Fetched{}, false
	}
	heads, err := r.store.fetchHeads()
	if err != nil || len(heads) != len(specs) {
		return git.Fetched{}, false
	}
	var found []git.Fetched
	for _, w := range wants {
		// FETCH_HEAD has the refs in the order of the arguments.
		f, err := r.fetchedRef(w, heads[slices.Index(specs, refspec(w))])
		if err != nil {
			return git.Fetched{}, false
		}
		found = append(found, f)
	}
	if r.keep() {
		for i, other := range waiting {
			r.Git.queues.deliver(other, found[i+1])
		}
	}
	return found[0], true
}

func refspec(want git.Want) string {
	if id := want.Known(); id != "" {
		return "+" + id + ":" + storeCommits + id
	}
	name := cmp.Or(want.Ref, git.Head)
	return fmt.Sprintf("+%s:%s%x", name, storeNames, sha256.Sum256([]byte(name)))
}

// fetchedRef returns the commit that a line of FETCH_HEAD has for a wanted one.
func (r *Repository) fetchedRef(want git.Want, head fetchHead) (git.Fetched, error) {
	if id := want.Known(); id != "" {
		if head.id != id {
			return git.Fetched{}, fmt.Errorf("%w: git fetched %s for %s", git.ErrDamaged, head.id, id)
		}
		return git.Fetched{ID: id}, nil
	}
	if !slices.Contains(git.Candidates(want.Ref), head.ref) {
		return git.Fetched{}, fmt.Errorf("%w: git used %q for the ref %q", git.ErrDamaged, head.ref, want.Ref)
	}
	return git.Fetched{ID: head.id, Chosen: r.chosen(want.Ref, head.ref)}, nil
}

// fetchHead is an object, and the full name of the ref that git resolved.
type fetchHead struct{ id, ref string }

// fetchHeads reads FETCH_HEAD, in the format of git-fmt-merge-msg(1): the object, a tab, a tab, and "tag
// 'v1' of https://...", "'refs/x' of ..." or, for HEAD, only the URL.
func (s *store) fetchHeads() (heads []fetchHead, err error) {
	f, err := os.Open(filepath.Join(s.dir, "FETCH_HEAD"))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", git.ErrDamaged, err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxFetchHead)
	for lines.Scan() {
		id, ref, ok := parseFetchHead(lines.Text())
		if !ok {
			return nil, fmt.Errorf("%w: unexpected FETCH_HEAD %q", git.ErrDamaged, lines.Text())
		}
		heads = append(heads, fetchHead{id, ref})
	}
	return heads, lines.Err()
}
