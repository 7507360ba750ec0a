package gitexec

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/git"
)

// CatFile reads objects of a repository through one "git cat-file --batch" process. The objects
// are checked against their names while they are read. The tree that is written is therefore
// the tree of the commit, even if the repository was damaged.
type CatFile struct {
	process *Process
	out     *bufio.Reader
	// current is the object whose content is read next; nil if there is none.
	current *git.Object
}

// OpenCatFile starts git. mode is "--batch", or "--batch-check" for answers without content.
func OpenCatFile(ctx context.Context, g *Git, repo, mode string) (*CatFile, error) {
	process, err := g.Start(ctx, Command{Args: []string{"cat-file", mode}, Repo: repo})
	if err != nil {
		return nil, err
	}
	return &CatFile{process: process, out: bufio.NewReaderSize(answers{process}, 64<<10)}, nil
}

// Close ends git, whether or not all answers were read.
func (c *CatFile) Close() { c.process.Kill() }

// Finish ends git after the last answer was read.
func (c *CatFile) Finish() error {
	if err := c.process.Stdin.Close(); err != nil {
		return err
	}
	return c.process.Wait()
}

// Commit implements [git.Objects].
func (c *CatFile) Commit(id string) (*git.Object, error) {
	c.Ask(id + "^{commit}")
	return c.next(git.KindCommit)
}

// Read implements [git.Objects].
func (c *CatFile) Read(kind git.Kind, ids []string) iter.Seq2[*git.Object, error] {
	return func(yield func(*git.Object, error) bool) {
		c.Ask(ids...)
		for range ids {
			if obj, err := c.next(kind); !yield(obj, err) || err != nil {
				return
			}
		}
	}
}

// expand returns the only commit whose name begins with short, or "" if there is none.
func (c *CatFile) expand(short string) (string, error) {
	c.Ask(short + "^{commit}")
	line, err := c.Line()
	switch {
	case err != nil:
		return "", err
	case strings.HasSuffix(line, " ambiguous"):
		return "", fmt.Errorf("%q is ambiguous: %w", short, git.ErrAmbiguous)
	case strings.HasSuffix(line, " missing"):
		return "", nil
	}
	id, _, _ := strings.Cut(line, " ")
	if !git.IsObjectID(id) || !strings.HasPrefix(id, short) {
		return "", fmt.Errorf("%w: unexpected answer %q", git.ErrDamaged, line)
	}
	return id, nil
}

// Ask requests objects. The answers come in the same order. It does not wait, because git stops
// reading until its answers are read. All answers must be read before the next call.
func (c *CatFile) Ask(names ...string) {
	go func() {
		// A failure here becomes visible as a missing answer.
		_, _ = io.WriteString(c.process.Stdin, strings.Join(names, "\n")+"\n")
	}()
}

// Line reads the first line of an answer. If an object was read before, Line first reads the
// line end after its content.
func (c *CatFile) Line() (string, error) {
	if c.current != nil {
		c.current = nil
		if end, err := c.out.ReadByte(); err != nil || end != '\n' {
			return "", fmt.Errorf("%w: no line end follows an object: %w", git.ErrDamaged, err)
		}
	}
	line, err := c.out.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return string(line[:len(line)-1]), nil
}

// next starts to read the next answer, which must be an object of the given kind.
func (c *CatFile) next(kind git.Kind) (*git.Object, error) {
	line, err := c.Line()
	if err != nil {
		return nil, err
	}
	id, size, err := ParseAnswer(line, kind)
	if err != nil {
		return nil, err
	}
	c.current = git.NewObject(id, kind, size, c.out)
	return c.current, nil
}

// ParseAnswer parses the first line of an answer. It has the object's name, kind and size, or a
// name and "missing", which is an error.
func ParseAnswer(line string, kind git.Kind) (id string, size int64, err error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || fields[1] != string(kind) || !git.IsObjectID(fields[0]) {
		return "", 0, fmt.Errorf("%w: want a %s, have %q", git.ErrDamaged, kind, line)
	}
	size, err = strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return "", 0, fmt.Errorf("%w: unexpected answer %q", git.ErrDamaged, line)
	}
	return fields[0], size, nil
}

// answers reads git's standard output. The end of the output is an error, because answers are
// only read as long as one is expected. A canceled context remains visible as the cause.
type answers struct{ process *Process }

func (a answers) Read(p []byte) (int, error) {
	n, err := a.process.Stdout.Read(p)
	if err == nil || n > 0 {
		return n, nil
	}
	if ended := a.process.Wait(); ended != nil {
		err = ended
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, err
	}
	return 0, fmt.Errorf("%w: %w", git.ErrDamaged, err)
}
