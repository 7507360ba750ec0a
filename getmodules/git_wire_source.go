package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/internal/git/gitpack"
)

// maxTagChain bounds tags of tags. Git has no bound; one is usual.
const maxTagChain = 32

var errWireTree = errors.New("a git tree whose entries are not in order")

// wireSource gives the objects of one pack, each of which was named by its
// content when it came.
type wireSource struct {
	objects *gitpack.Objects
	asked   []string
}

func (s *wireSource) ask(names ...string) { s.asked = names }

// finish waits for the end of the pack, which says whether it was whole.
func (s *wireSource) finish() error {
	_, err := s.objects.Wait()
	return err
}

func (s *wireSource) next(kind string) (*gitObject, error) {
	name, toCommit := strings.CutSuffix(s.asked[0], "^{commit}")
	s.asked = s.asked[1:]
	if toCommit {
		var err error
		if name, err = s.commitOf(name); err != nil {
			return nil, err
		}
	}
	body, err := s.read(name, kind)
	if err != nil {
		return nil, err
	}
	if kind == "tree" && !isSortedTree(body) {
		return nil, fmt.Errorf("%w: %s", errWireTree, name)
	}
	return &gitObject{id: name, size: int64(len(body)), gitContent: &wireContent{bytes.NewReader(body), body}}, nil
}

func (s *wireSource) read(name, kind string) ([]byte, error) {
	found, _, ok := s.objects.Stat(name)
	if !ok {
		if _, err := s.objects.Wait(); err != nil {
			return nil, err
		}
	}
	if !ok || found.String() != kind {
		return nil, fmt.Errorf("the server did not send the %s %s", kind, name)
	}
	return s.objects.Read(name)
}

// commitOf is the commit that a commit or tag leads to. A tag begins with the
// line "object " and the name of the object that it points to.
func (s *wireSource) commitOf(name string) (string, error) {
	for range maxTagChain {
		kind, _, ok := s.objects.Stat(name)
		if !ok || kind != gitpack.Tag {
			return name, nil
		}
		body, err := s.read(name, "tag")
		if err != nil {
			return "", err
		}
		line, _, _ := bytes.Cut(body, []byte("\n"))
		name = strings.TrimPrefix(string(line), "object ")
	}
	return "", fmt.Errorf("more than %d tags lead from one to the next", maxTagChain)
}

// wireContent is the content of an object in memory.
type wireContent struct {
	*bytes.Reader
	body []byte
}

// Peek returns the next n bytes without reading them.
func (c *wireContent) Peek(n int) ([]byte, error) {
	rest := c.body[len(c.body)-c.Len():]
	if len(rest) < n {
		return nil, io.EOF
	}
	return rest[:n], nil
}

// isSortedTree reports whether a tree is in git's order and has no name twice,
// where git checks that too. Entries that are no entries are not its business.
func isSortedTree(body []byte) bool {
	const idLen = 20
	last := ""
	for len(body) > 0 {
		head, rest, ok := bytes.Cut(body, []byte{0})
		mode, name, ok2 := bytes.Cut(head, []byte(" "))
		if !ok || !ok2 || len(rest) < idLen {
			return true
		}
		// Directories are sorted as if their names ended in a slash.
		key := string(name)
		if strings.TrimLeft(string(mode), "0") == "40000" {
			key += "/"
		}
		if key <= last || key == last+"/" {
			return false
		}
		last, body = key, rest[idLen:]
	}
	return true
}
