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

// CatFile reads objects through one "git cat-file --batch". They are compared with their names while they
// are read, so a damaged repository cannot change a tree.
type CatFile struct {
	process *Process
	out     *bufio.Reader
	// current is the object whose content is read next; nil if there is none.
	current *git.Object
}

func OpenCatFile(ctx context.Context, g *Git, repo string) (*CatFile, error) {
	process, err := g.Start(ctx, Command{Args: []string{"cat-file", "--batch"}, Repo: repo})
	if err != nil {
		return nil, err
	}
	return &CatFile{process: process, out: bufio.NewReaderSize(answers{process}, 64<<10)}, nil
}

func (c *CatFile) Close() { c.process.Kill() }

// Complete returns nil: the fetch has ended.
func (c *CatFile) Complete() error { return nil }

func (c *CatFile) Finish() error {
	if err := c.process.Stdin.Close(); err != nil {
		return err
	}
	return c.process.Wait()
}

func (c *CatFile) Commit(id string) (*git.Object, error) {
	c.ask(id + "^{commit}")
	return c.next(git.KindCommit)
}

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

// expand returns "" if no commit begins with short.
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

// ask does not wait, because git stops reading until its answers are read. All of them must be read
// before the next call.
func (c *CatFile) ask(names ...string) {
	go func() {
		// A failure here becomes visible as a missing answer.
		_, _ = io.WriteString(c.process.Stdin, strings.Join(names, "\n")+"\n")
	}()
}

// line reads the first line of an answer, after the line end of the object before it.
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

func (c *CatFile) next(kind git.Kind) (*git.Object, error) {
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	return c.begin(line, kind)
}

// begin parses the first line of an answer: name, kind and size, or a name and "missing".
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

// answers reads git's output. Its end is an error, because an answer is expected.
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
