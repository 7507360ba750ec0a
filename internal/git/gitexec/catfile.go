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

// catFile reads objects of a repository through one "git cat-file --batch" process. The objects
// are checked against their names while they are read. The tree that is written is therefore
// the tree of the commit, even if the repository was damaged.
type catFile struct {
	process *Process
	out     *bufio.Reader
	// current is the object whose content is read next; nil if there is none.
	current *git.Object
}

// openCatFile starts git. mode is "--batch", or "--batch-check" for answers without content.
func openCatFile(ctx context.Context, g *Git, repo, mode string) (*catFile, error) {
	process, err := g.Start(ctx, Command{Args: []string{"cat-file", mode}, Repo: repo})
	if err != nil {
		return nil, err
	}
	return &catFile{process: process, out: bufio.NewReaderSize(answers{process}, 64<<10)}, nil
}

// close ends git, whether or not all answers were read.
func (c *catFile) close() { c.process.Kill() }

// Finish ends git after the last answer was read.
func (c *catFile) Finish() error {
	if err := c.process.Stdin.Close(); err != nil {
		return err
	}
	return c.process.Wait()
}

// Commit implements [git.Objects].
func (c *catFile) Commit(id string) (*git.Object, error) {
	c.ask(id + "^{commit}")
	return c.next(git.KindCommit)
}

// Read implements [git.Objects].
func (c *catFile) Read(kind git.Kind, ids []string) iter.Seq2[*git.Object, error] {
	return func(yield func(*git.Object, error) bool) {
		c.ask(ids...)
		for range ids {
			if obj, err := c.next(kind); !yield(obj, err) || err != nil {
				return
			}
		}
	}
}

// expand returns the only commit whose name begins with short, or "" if there is none.
func (c *catFile) expand(short string) (string, error) {
	c.ask(short + "^{commit}")
	line, err := c.line()
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

// ask requests objects. The answers come in the same order. It does not wait, because git stops
// reading until its answers are read. All answers must be read before the next call.
func (c *catFile) ask(names ...string) {
	go func() {
		// A failure here becomes visible as a missing answer.
		_, _ = io.WriteString(c.process.Stdin, strings.Join(names, "\n")+"\n")
	}()
}

// line reads the first line of an answer. If an object was read before, line first reads the
// line end after its content.
func (c *catFile) line() (string, error) {
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
func (c *catFile) next(kind git.Kind) (*git.Object, error) {
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	id, size, err := parseAnswer(line, kind)
	if err != nil {
		return nil, err
	}
	c.current = git.NewObject(id, kind, size, c.out)
	return c.current, nil
}

// parseAnswer parses the first line of an answer. It has the object's name, kind and size, or a
// name and "missing", which is an error.
func parseAnswer(line string, kind git.Kind) (id string, size int64, err error) {
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
// only read as long as one is expected. A cancelled context remains visible as the cause.
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
