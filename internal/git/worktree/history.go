package worktree

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// ErrMissingObject means that a repository lacks an object that it refers to. Partial clones have
// only some of the objects, and a [Tree] does not fetch the others.
var ErrMissingObject = errors.New("the clone does not have all of its objects")

// ErrLargeHistory means that the versions of a file have more than [HistoryLimits.Total] bytes.
var ErrLargeHistory = errors.New("the versions of the file are too large")

// HistoryLimits are what [Tree.History] reads at most.
type HistoryLimits struct {
	// Commits is the number of commits that changed the file.
	Commits int
	// File is the size of one version, in bytes. Larger versions are passed over.
	File int64
	// Total is the size of all versions that are read, in bytes.
	Total int64
}

// FileVersion is the state of a file in a commit that changed it.
type FileVersion struct {
	// Commit is the id of the commit, and Short the abbreviation that git prints.
	Commit, Short string
	// Time is when the commit was made; zero if git prints it in another form.
	Time time.Time
	// Content is nil if the commit does not have the file, or if it is not a file or is larger
	// than the limit.
	Content []byte
}

// History yields the versions of a file, from HEAD along the first parents, newest first. name is
// its path from the top of the checkout or, if it begins with "./", from Prefix. A renamed file or
// directory is not followed. Git stops when the loop ends.
//
// An error ends the iteration. It is a [*RevisionError] if there is no commit yet, and wraps
// [ErrMissingObject] in a partial clone, or [ErrLargeHistory]. At the end of a shallow clone there
// is no error; see [Tree.IsShallow].
func (w *Tree) History(ctx context.Context, name string, limits HistoryLimits) iter.Seq2[FileVersion, error] {
	return func(yield func(FileVersion, error) bool) {
		h, err := w.openHistory(ctx, w.fromTop(name), limits)
		if err != nil {
			yield(FileVersion{}, err)
			return
		}
		defer h.close()
		for {
			version, err := h.next()
			if errors.Is(err, io.EOF) || !yield(version, err) || err != nil {
				return
			}
		}
	}
}

// IsShallow reports whether the repository is a shallow clone, whose history is cut off.
func (w *Tree) IsShallow(ctx context.Context) (bool, error) {
	out, err := w.git.Output(ctx, w.command("rev-parse", "--is-shallow-repository"), maxLine)
	return strings.TrimSpace(string(out)) == "true", err
}

// fileHistory reads the history of a file with three processes: one lists commits, one finds the
// file in them with its size, and one reads the content.
type fileHistory struct {
	ctx    context.Context //nolint:containedctx // an iteration is one call
	tree   *Tree
	name   string
	limits HistoryLimits

	commits  *gitexec.Process
	lines    *bufio.Reader // of commits
	sizes    *gitexec.CatFile
	contents *gitexec.CatFile
}

func (w *Tree) openHistory(ctx context.Context, name string, limits HistoryLimits) (_ *fileHistory, err error) {
	if strings.ContainsAny(name, "\n\x00") {
		return nil, fmt.Errorf("the history of %q cannot be read, because of the line end in its name", name)
	}
	head, err := w.commit(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	h := &fileHistory{ctx: ctx, tree: w, name: name, limits: limits}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	// Unlike "git log", "git rev-list" follows none of the settings log.*, which can run gpg.
	h.commits, err = w.git.Start(ctx, w.command("rev-list", "--first-parent", "--max-count="+strconv.Itoa(limits.Commits),
		"--format=%h%x20%cI", head, "--", ":(literal)"+name))
	if err != nil {
		return nil, err
	}
	h.lines = bufio.NewReader(h.commits.Stdout)
	if h.sizes, err = gitexec.OpenCatFile(ctx, w.git, w.gitDir, "--batch-check"); err != nil {
		return nil, err
	}
	h.contents, err = gitexec.OpenCatFile(ctx, w.git, w.gitDir, "--batch")
	return h, err
}

func (h *fileHistory) close() {
	for _, c := range []*gitexec.CatFile{h.sizes, h.contents} {
		if c != nil {
			c.Close()
		}
	}
	if h.commits != nil {
		h.commits.Kill()
	}
}

// next returns the next older version. At the end, the error is io.EOF.
func (h *fileHistory) next() (FileVersion, error) {
	version, err := h.nextCommit()
	if err != nil {
		return FileVersion{}, err
	}
	blob, size, err := h.find(version.Commit)
	if err != nil || blob == "" || size > h.limits.File {
		return version, err
	}
	if h.limits.Total -= size; h.limits.Total < 0 {
		return version, ErrLargeHistory
	}
	for object, err := range h.contents.Read(git.KindBlob, []string{blob}) {
		if err != nil {
			return version, err
		}
		if version.Content, err = io.ReadAll(object); err != nil {
			return version, err
		}
	}
	return version, nil
}

// nextCommit reads a line "commit ID", and one with the abbreviated id and the time.
func (h *fileHistory) nextCommit() (version FileVersion, err error) {
	header, err := h.lines.ReadString('\n')
	if errors.Is(err, io.EOF) && header == "" {
		if err := h.commits.Wait(); err != nil {
			return version, missing(err)
		}
		return version, io.EOF
	}
	var text string
	if err == nil {
		text, err = h.lines.ReadString('\n')
	}
	if err != nil {
		return version, fmt.Errorf("%w: %w", errAnswer, errors.Join(err, h.commits.Wait()))
	}
	id, ok := strings.CutPrefix(strings.TrimSpace(header), "commit ")
	short, made, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !ok || !git.IsObjectID(id) || short == "" || !strings.HasPrefix(id, short) {
		return version, fmt.Errorf("%w: %q", errAnswer, header+text)
	}
	version.Commit, version.Short = id, short
	if at, err := time.Parse(time.RFC3339, made); err == nil {
		version.Time = at
	}
	return version, nil
}

// missing adds ErrMissingObject to the error of a git that could not fetch an object of a partial
// clone.
func missing(err error) error {
	if failed, ok := errors.AsType[*gitexec.Error](err); ok && strings.Contains(failed.Stderr, "promisor remote") {
		return fmt.Errorf("%w: %w", ErrMissingObject, err)
	}
	return err
}

// find returns the file in a commit, and its size in bytes; "" if the commit has no such file.
func (h *fileHistory) find(commit string) (blob string, size int64, err error) {
	h.sizes.Ask(commit + ":" + h.name)
	line, err := h.sizes.Line()
	if err != nil || strings.HasSuffix(line, " missing") {
		// Either the commit does not have the file, or the clone does not have the object. For the
		// latter, some versions of git only print an error.
		if h.ctx.Err() != nil {
			return "", 0, context.Cause(h.ctx)
		}
		return "", 0, h.checkAbsent(commit)
	}
	fields := strings.Split(line, " ")
	if len(fields) == 3 && fields[1] != string(git.KindBlob) {
		return "", 0, nil
	}
	return gitexec.ParseAnswer(line, git.KindBlob)
}

// checkAbsent returns an error if a commit has the file, or if that is not known.
func (h *fileHistory) checkAbsent(commit string) error {
	listed, err := h.tree.git.Output(h.ctx, h.tree.command("ls-tree", "-z", commit, "--", h.name), maxLine)
	switch {
	case h.ctx.Err() != nil:
		return context.Cause(h.ctx)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrMissingObject, err)
	case len(listed) > 0:
		return ErrMissingObject
	}
	return nil
}
