package gitexec

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/net/httpx"
)

// idle is long: git reports progress every second, and servers keep alive every five seconds.
const idle = 2 * time.Minute

// Repository is a [git.Repository] that is fetched by the installed git. Its fields must not
// change after first use.
type Repository struct {
	Git *Git
	// URL has no credentials, and [Settings.Target] has applied url.<base>.insteadOf to it.
	URL  *url.URL
	Home bool
	// Remote is that of [Target].
	Remote string
	// Protocols and Direct are those of [Network].
	Protocols, Direct []string
	// User is for http and https; nil means those in the user's configuration.
	User *url.Userinfo
	// Named and PlainCredentials are those of [Requests].
	Named, PlainCredentials bool
	// SSHKey is offered by ssh; nil means the user's own keys.
	SSHKey []byte
	// Secrets are removed from errors.
	Secrets []string
	// Scratch is the absolute path of a private directory, which the caller removes.
	Scratch string
	// CacheDir keeps packs between fetches; "" means none are kept.
	CacheDir string
	// MaxBytes bounds one transfer.
	MaxBytes int64
	Floor    httpx.Floor
	Retry    httpx.Retry
	// Progress gets the bytes of the current fetch so far. It may be nil.
	Progress func(done int64)
	// CacheUnusable gets the reason if the fetch continues without CacheDir. It may be nil.
	CacheUnusable func(reason string)

	network  *Network // nil before prepare
	store    store
	moved    *url.URL // the URL after redirects; nil if there were none
	received int64
	secrets  []string
	// emptyPassword is set after git found no password for the user.
	emptyPassword bool
}

// Stored reads a commit that CacheDir has. It returns false if it does not, or if objects are damaged.
func (r *Repository) Stored(ctx context.Context, id string, read func(git.Fetched) error) (bool, error) {
	r.openStore()
	if len(r.store.cached.packs()) == 0 {
		return false, nil
	}
	if err := r.store.open(objectFormat(id)); err != nil {
		return true, err
	}
	err := r.read(ctx, git.Fetched{ID: id}, read)
	if errors.Is(err, git.ErrDamaged) {
		return false, nil
	}
	return true, explain(r.URL, err)
}

func (r *Repository) read(ctx context.Context, fetched git.Fetched, read func(git.Fetched) error) error {
	objects, err := OpenCatFile(ctx, r.Git, r.store.dir)
	if err != nil {
		return err
	}
	defer objects.Close()
	fetched.Objects = objects
	return read(fetched)
}

// Fetch fetches damaged objects again, once.
func (r *Repository) Fetch(ctx context.Context, want git.Want, read func(git.Fetched) error) error {
	if err := r.prepare(ctx); err != nil {
		return err
	}
	r.openStore()
	err := r.fetchAndRead(ctx, want, read)
	if errors.Is(err, git.ErrDamaged) && !r.store.fresh {
		if err := r.store.discard(); err != nil {
			r.leaveCache(err)
		}
		err = r.fetchAndRead(ctx, want, read)
	}
	return explain(r.URL, err)
}

func (r *Repository) fetchAndRead(ctx context.Context, want git.Want, read func(git.Fetched) error) error {
	fetched, err := r.fetch(ctx, want)
	if err != nil {
		return err
	}
	return r.read(ctx, fetched, read)
}

func (r *Repository) leaveCache(err error) {
	r.store.cached = cached{}
	if r.CacheUnusable != nil {
		r.CacheUnusable(strings.ToLower(reasonOf(err)))
	}
}

func (r *Repository) fetch(ctx context.Context, want git.Want) (fetched git.Fetched, err error) {
	unlock, err := r.store.cached.lock(ctx)
	switch {
	case err == nil:
		defer unlock()
	case ctx.Err() != nil:
		return git.Fetched{}, err
	default:
		r.leaveCache(err)
	}
	if err := r.store.open(objectFormat(want.Known())); err != nil {
		return git.Fetched{}, err
	}
	before := r.store.packBytes()
	defer func() { r.received += max(0, r.store.packBytes()-before) }()

	fetched, err = r.resolve(ctx, want)
	if says(err, saysOtherFormat) && want.Known() == "" {
		// Only the server knows its hash, and git fetches only into a store with the same.
		if err := r.store.open(r.store.otherFormat()); err != nil {
			return git.Fetched{}, err
		}
		fetched, err = r.resolve(ctx, want)
	}
	switch {
	case err == nil:
		if err := r.store.keep(); err != nil {
			r.leaveCache(err)
		}
	case !r.store.fresh && !isAnswer(err) && !r.store.healthy(ctx, r.Git):
		err = errors.Join(git.ErrDamaged, err)
	}
	return fetched, err
}

func objectFormat(commit string) string {
	switch len(commit) {
	case git.SHA1Len:
		return "sha1"
	case git.SHA256Len:
		return "sha256"
	}
	return ""
}

func (r *Repository) openStore() {
	if r.store.dir == "" {
		r.store = newStore(r.CacheDir, r.Scratch, r.URL)
	}
}

func (r *Repository) Refs(ctx context.Context, names ...string) (git.Refs, error) {
	if err := r.prepare(ctx); err != nil {
		return nil, err
	}
	// With these options git requests only heads or tags, so the cost depends on their number.
	// For individual names it makes the server list all refs.
	options := map[string]string{git.Heads: "--heads", git.Tags: "--tags"}
	args, patterns := []string{"ls-remote"}, []string{}
	for _, name := range names {
		if option, ok := options[name]; ok {
			args = append(args, option)
			continue
		}
		patterns = append(patterns, name, name+"^{}")
	}
	list := func() Command {
		return r.command(slices.Concat(args, []string{"--end-of-options", r.remote()}, patterns)...)
	}
	var out []byte
	ctx, stop, err := r.watch(ctx)
	if err != nil {
		return nil, err
	}
	err = r.talk(ctx, list, func(c Command) (err error) {
		out, err = r.Git.Output(ctx, c, git.MaxRefBytes)
		return err
	})
	if tooLarge := stop(); tooLarge != nil {
		return nil, tooLarge
	}
	if errors.Is(err, ErrOutput) {
		return nil, fmt.Errorf("%w: git listed more than %d bytes of refs", git.ErrTooLarge, git.MaxRefBytes)
	}
	if err != nil {
		return nil, explain(r.URL, err)
	}
	refs := parseListing(out)
	if len(refs) > git.MaxRefs {
		return nil, fmt.Errorf("%w: git listed more than %d refs", git.ErrTooLarge, git.MaxRefs)
	}
	return refs, nil
}

func parseListing(out []byte) git.Refs {
	refs := git.Refs{}
	for line := range bytes.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), "\t")
		refs.Add(id, name)
	}
	return refs
}

// Expand needs a list of all commits.
func (r *Repository) Expand(ctx context.Context, short string) (string, error) {
	if err := r.prepare(ctx); err != nil {
		return "", err
	}
	if r.store.format == "" {
		r.store.format = "sha1"
	}
	id, err := r.expand(ctx, short)
	if says(err, saysOtherFormat) {
		r.store.format = r.store.otherFormat()
		id, err = r.expand(ctx, short)
	}
	return id, explain(r.URL, err)
}

func (r *Repository) expand(ctx context.Context, short string) (string, error) {
	history := *r
	history.store = store{dir: filepath.Join(r.Scratch, "history")}
	if err := history.store.reinit(r.store.format); err != nil {
		return "", err
	}
	if err := history.fetchCommits(ctx, nil, allRefs[:]...); err != nil {
		return "", err
	}
	objects, err := OpenCatFile(ctx, r.Git, history.store.dir)
	if err != nil {
		return "", err
	}
	defer objects.Close()
	return objects.expand(short)
}

func (r *Repository) Received() int64 { return r.received }

// Close does nothing, because the caller removes Scratch.
func (r *Repository) Close() error { return nil }

func (r *Repository) has(ctx context.Context, id string) bool {
	objects, err := OpenCatFile(ctx, r.Git, r.store.dir)
	if err != nil {
		return false
	}
	defer objects.Close()
	found, _, err := git.ReadCommit(objects, id)
	return err == nil && found == id
}

var _ git.Repository = (*Repository)(nil)
