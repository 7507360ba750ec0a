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

// catFile reads objects of a repository through one git cat-file --batch. They are
// checked as they are read, so that the tree which is written is the one that
// the commit's name stands for, whatever happened to the repository.
type catFile struct {
	process *Process
	out     *bufio.Reader
	// current is the object whose content comes next, if there is one.
	current *git.Object
}

func openCatFile(ctx context.Context, g *Git, repo string) (*catFile, error) {
	process, err := g.Start(ctx, Command{Args: []string{"cat-file", "--batch"}, Repo: repo})
	if err != nil {
		return nil, err
	}
	return &catFile{process: process, out: bufio.NewReaderSize(answers{process}, 64<<10)}, nil
}

// close ends git, whether all answers were read or not.
func (c *catFile) close() { c.process.Kill() }

// Finish ends git after the last answer.
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

// expand returns the only commit whose name begins so, or "".
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

// ask requests objects; the answers come in the same order. It does not wait,
// because git reads no further while its answers are not read. All answers must
// be read before the next call.
func (c *catFile) ask(names ...string) {
	go func() {
		// A failure here shows as an answer that does not come.
		_, _ = io.WriteString(c.process.Stdin, strings.Join(names, "\n")+"\n")
	}()
}

// line reads the first line of an answer, and the line end behind the content of
// the one before.
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

// next begins to read the next answer, which must be an object of that kind.
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

// parseAnswer reads the first line of an answer: the object's name, its kind and
// its size, or a name and "missing".
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

// answers is what git writes. That it ends is an error, because no answer is
// expected behind the last one. A cancelled context remains visible as the cause.
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
