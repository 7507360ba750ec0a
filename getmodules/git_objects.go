package getmodules

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // git's own object names; nothing is trusted for them alone
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// gitObjects reads objects of a store through one git cat-file --batch. Every
// object is hashed again as it is read, so that the tree which is written is
// the one that the commit's name stands for, whatever befell the store.
type gitObjects struct {
	proc gitAnswers
	in   io.WriteCloser
	out  *bufio.Reader
}

// gitAnswers is what answers: git cat-file --batch, or what does the same
// within the process.
type gitAnswers interface {
	Wait() error
	Kill()
}

func openGitObjects(ctx context.Context, git *gitexec.Git, dir string) (*gitObjects, error) {
	proc, err := git.Start(ctx, gitexec.Command{Args: []string{"cat-file", "--batch"}, Repo: dir})
	if err != nil {
		return nil, err
	}
	return newGitObjects(proc, proc.Stdin, proc.Stdout), nil
}

func newGitObjects(proc gitAnswers, in io.WriteCloser, out io.Reader) *gitObjects {
	return &gitObjects{proc: proc, in: in, out: bufio.NewReaderSize(out, 64<<10)}
}

// close ends git, whether all answers were read or not.
func (o *gitObjects) close() { o.proc.Kill() }

// finish ends git after the last answer.
func (o *gitObjects) finish() error {
	if err := o.in.Close(); err != nil {
		return err
	}
	return o.proc.Wait()
}

// ask requests objects; the answers come in the same order. It does not wait,
// because git reads no further while nobody takes its answers. Each call's
// answers must be read before the next call.
func (o *gitObjects) ask(names ...string) {
	go func() {
		// A failure here shows as an answer that does not come.
		_, _ = io.WriteString(o.in, strings.Join(names, "\n")+"\n")
	}()
}

// answer reads the first line of an answer.
func (o *gitObjects) answer() (string, error) {
	line, err := o.out.ReadSlice('\n')
	if err != nil {
		return "", o.broken(err)
	}
	return string(line[:len(line)-1]), nil
}

// broken is the error for an answer that is none, which includes that git
// ended. A cancelled context remains visible as such.
func (o *gitObjects) broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		if waitErr := o.proc.Wait(); waitErr != nil {
			err = waitErr
		}
	}
	if isCancelled(err) {
		return err
	}
	return fmt.Errorf("%w: %w", errStoreBroken, err)
}

// next begins to read the next answer, which must be an object of that kind.
func (o *gitObjects) next(kind string) (*gitObject, error) {
	line, err := o.answer()
	if err != nil {
		return nil, err
	}
	id, size, err := parseGitAnswer(line, kind)
	if err != nil {
		return nil, err
	}
	content := &gitAnswer{from: o, id: id, left: size, sum: newGitHash(id)}
	fmt.Fprintf(content.sum, "%s %d\x00", kind, size)
	return &gitObject{id: id, size: size, gitContent: content}, nil
}

// parseGitAnswer reads the first line of an answer: the object's name, its kind
// and its size, or a name and "missing".
func parseGitAnswer(line, kind string) (id string, size int64, err error) {
	fields := strings.Split(line, " ")
	if len(fields) != 3 || fields[1] != kind || !git.IsObjectID(fields[0]) {
		return "", 0, fmt.Errorf("%w: want a %s, have %q", errStoreBroken, kind, line)
	}
	size, err = strconv.ParseInt(fields[2], 10, 64)
	if err != nil || size < 0 {
		return "", 0, fmt.Errorf("%w: unexpected answer %q", errStoreBroken, line)
	}
	return fields[0], size, nil
}

// newGitHash is the hash that made the object name id.
func newGitHash(id string) hash.Hash {
	if len(id) == git.SHA256Len {
		return sha256.New()
	}
	return sha1.New()
}

// gitAnswer is the content of one object. It must be read to its end.
type gitAnswer struct {
	from *gitObjects
	id   string
	left int64
	sum  hash.Hash
	done bool
}

// Read returns io.EOF only if the content is complete and matches the
// object's name.
func (b *gitAnswer) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.end()
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.from.out.Read(p)
	b.left -= int64(n)
	b.sum.Write(p[:n])
	if err != nil {
		return n, b.from.broken(err)
	}
	return n, nil
}

func (b *gitAnswer) end() error {
	if b.done {
		return io.EOF
	}
	newline, err := b.from.out.ReadByte()
	if err != nil {
		return b.from.broken(err)
	}
	if newline != '\n' || fmt.Sprintf("%x", b.sum.Sum(nil)) != b.id {
		return fmt.Errorf("%w: object %s does not match its name", errStoreBroken, b.id)
	}
	b.done = true
	return io.EOF
}

// Peek returns the next n bytes without reading them.
func (b *gitAnswer) Peek(n int) ([]byte, error) {
	if b.left < int64(n) {
		return nil, io.EOF
	}
	return b.from.out.Peek(n)
}
