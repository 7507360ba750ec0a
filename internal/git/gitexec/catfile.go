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

// OpenCatFile starts git.
func OpenCatFile(ctx context.Context, g *Git, repo string) (*CatFile, error) {
	process, err := g.Start(ctx, Command{Args: []string{"cat-file", "--batch"}, Repo: repo})
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
	c.ask(id + "^{commit}")
	return c.next(git.KindCommit)
}

// Read implements [git.Objects].
func (c *CatFile) Read(kind git.Kind, ids []string) iter.Seq2[*git.Object, error] {
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
func (c *CatFile) expand(short string) (string, error) {
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
func (c *CatFile) ask(names ...string) {
	go func() {
		// A failure here becomes visible as a missing answer.
		_, _ = io.WriteString(c.process.Stdin, strings.Join(names, "\n")+"\n")
	}()
}

// line reads the first line of an answer. If an object was read before, line first reads the
// line end after its content.
func (c *CatFile) line() (string, error) {
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

// Object returns the object that a name stands for, by git's own rules; nil if there is none. Its
// content must be read before the next call.
func (c *CatFile) Object(name string) (o *git.Object, kind git.Kind, err error) {
	c.ask(name)
	line, err := c.line()
	if err != nil || strings.HasSuffix(line, " missing") {
		return nil, "", err
	}
	_, rest, _ := strings.Cut(line, " ")
	word, _, _ := strings.Cut(rest, " ")
	kind = git.Kind(word)
	o, err = c.begin(line, kind)
	return o, kind, err
}

// next starts to read the next answer, which must be an object of the given kind.
func (c *CatFile) next(kind git.Kind) (*git.Object, error) {
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	return c.begin(line, kind)
}

// begin parses the first line of an answer. It has the object's name, kind and size, or a name and
// "missing", which is an error.
func (c *CatFile) begin(line string, kind git.Kind) (*git.Object, error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || fields[1] != string(kind) || !git.IsObjectID(fields[0]) {
		return nil, fmt.Errorf("%w: want a %s, have %q", git.ErrDamaged, kind, line)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return nil, fmt.Errorf("%w: unexpected answer %q", git.ErrDamaged, line)
	}
	c.current = git.NewObject(fields[0], kind, size, c.out)
	return c.current, nil
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
