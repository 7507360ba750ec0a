package worktree

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
	"github.com/cotterpin/cotter/lockfile"
)

// ErrMissingObject is about partial clones.
var ErrMissingObject = errors.New("the clone does not have all of its objects")

var ErrLargeHistory = errors.New("the versions of the file are too large")

// lockHistory reads the versions of a lock from HEAD along the first parents.
type lockHistory struct {
	tree    *Tree
	name    string // from the top of the checkout
	objects *gitexec.CatFile
	left    int64 // how many bytes may still be read
}

// findLock returns whole if it has read everything that the clone has.
func (w *Tree) findLock(ctx context.Context, lockFile string, block Block) (found *LockVersion, whole bool, err error) {
	h := lockHistory{tree: w, name: w.fromTop("./" + lockFile), left: maxTotal}
	if strings.ContainsAny(h.name, "\n\x00") {
		return nil, false, fmt.Errorf("the history of %q cannot be read, because of the line end in its name", h.name)
	}
	head, err := w.commit(ctx, "HEAD")
	if err != nil {
		return nil, false, err
	}
	// Unlike "git log", "git rev-list" follows none of the settings log.*, which can run gpg.
	list := []string{"rev-list", "--first-parent", "--max-count=" + strconv.Itoa(MaxLockCommits), "--format=%h%x20%cI", head}
	end, err := w.commit(ctx, head+"~"+strconv.Itoa(MaxCommits))
	bounded := err == nil
	if bounded {
		list = append(list, "^"+end)
	} else if ctx.Err() != nil {
		return nil, false, context.Cause(ctx)
	}
	commits, err := w.git.Start(ctx, w.command(append(list, "--", ":(literal)"+h.name)...))
	if err != nil {
		return nil, false, err
	}
	defer commits.Kill()
	if h.objects, err = gitexec.OpenCatFile(ctx, w.git, w.gitDir); err != nil {
		return nil, false, err
	}
	defer h.objects.Close()
	lines := bufio.NewReader(commits.Stdout)
	for n := 0; ; n++ {
		header, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) && header == "" {
			err := missing(commits.Wait())
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			} else if err == nil && bounded {
				err = ErrBounds
			}
			return nil, n < MaxLockCommits, err
		}
		text, _ := lines.ReadString('\n')
		v, err := parseVersion(header, text)
		if err != nil {
			return nil, false, errors.Join(err, commits.Wait())
		}
		if v.Src, err = h.read(ctx, v.Commit); err != nil {
			return nil, false, err
		}
		if !bytes.Contains(v.Src, []byte(block)) {
			continue // it need not be parsed
		}
		if v.Lock, err = lockfile.Parse(v.Src, ""); err == nil && block.in(v.Lock) {
			v.IsHead = n == 0
			return v, false, nil
		}
	}
}

// parseVersion parses "commit ID", and a line with the short ID and the time.
func parseVersion(header, text string) (*LockVersion, error) {
	id, ok := strings.CutPrefix(strings.TrimSpace(header), "commit ")
	short, made, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !ok || !git.IsObjectID(id) || short == "" || !strings.HasPrefix(id, short) {
		return nil, fmt.Errorf("%w: %q", errAnswer, header+text)
	}
	at, _ := time.Parse(time.RFC3339, made) // zero if it is malformed
	return &LockVersion{Commit: id, Short: short, Time: at}, nil
}

// missing adds ErrMissingObject to an error about a partial clone.
func missing(err error) error {
	if failed, ok := errors.AsType[*gitexec.Error](err); ok && strings.Contains(failed.Stderr, "promisor remote") {
		return fmt.Errorf("%w: %w", ErrMissingObject, err)
	}
	return err
}

// read returns nil if the commit does not have a lock, or one that is too large.
func (h *lockHistory) read(ctx context.Context, commit string) ([]byte, error) {
	object, kind, err := h.objects.Object(commit + ":" + h.name)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || object == nil:
		// In a partial clone, some versions of git only print an error.
		return nil, h.checkAbsent(ctx, commit)
	case kind != git.KindBlob || object.Size > lockfile.MaxSize:
		_, err := io.Copy(io.Discard, object)
		return nil, err
	}
	if h.left -= object.Size; h.left < 0 {
		return nil, ErrLargeHistory
	}
	return io.ReadAll(object)
}

func (h *lockHistory) checkAbsent(ctx context.Context, commit string) error {
	listed, err := h.tree.git.Output(ctx, h.tree.command("ls-tree", "-z", commit, "--", h.name), maxLine)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMissingObject, err)
	case len(listed) > 0:
		return ErrMissingObject
	}
	return nil
}
