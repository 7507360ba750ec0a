package inprocess

import (
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/internal/git"
	"github.com/pjbgf/sha1cd"
)

// spill is a temporary file for what is not kept in memory.
type spill struct {
	dir  string
	disk *packagelimits.Disk
	file *os.File // nil before the first write
	size int64
}

func (s *spill) Write(data []byte) (n int, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, ".objects-*"); err != nil {
			return 0, err
		}
	}
	if err := s.disk.Take(int64(len(data))); err != nil {
		return 0, err
	}
	n, err = s.file.Write(data)
	s.size += int64(n)
	return n, err
}

// section may be read while more is written.
func (s *spill) section(at, size int64) *io.SectionReader {
	return io.NewSectionReader(s.file, at, size)
}

// reset makes the file empty.
func (s *spill) reset() error {
	if s.file == nil {
		return nil
	}
	_, err := s.file.Seek(0, io.SeekStart)
	s.size = 0
	return errors.Join(err, s.file.Truncate(0))
}

func (s *spill) close() error {
	if s.file == nil {
		return nil
	}
	closed := s.file.Close()
	removed := os.Remove(s.file.Name())
	s.file = nil
	if closed != nil {
		return closed
	}
	return removed
}

// unnamed is an object without a name or, without a kind, a channel to close when all before it have names.
type unnamed struct {
	index int
	kind  git.Kind
	data  []byte
	named chan<- struct{}
}

// namer computes names while the next objects are inflated. Like git, it detects collisions of SHA-1.
type namer struct {
	name  func(index int, key objectName)
	queue chan unnamed
	done  chan error
}

// namesBehind bounds the objects that wait for their names.
const namesBehind = 4

func newNamer(name func(int, objectName)) *namer {
	n := &namer{name: name, queue: make(chan unnamed, namesBehind), done: make(chan error, 1)}
	go n.run()
	return n
}

func (n *namer) add(u unnamed) { n.queue <- u }

func (n *namer) wait() {
	named := make(chan struct{})
	n.queue <- unnamed{named: named}
	<-named
}

// finish waits until all objects have names, or returns an error about any of them.
func (n *namer) finish() error {
	close(n.queue)
	return <-n.done
}

func (n *namer) run() {
	var failed error
	sum := sha1cd.New()
	for u := range n.queue {
		if u.named != nil {
			close(u.named)
			continue
		}
		sum.Reset()
		begin(sum, u.kind, int64(len(u.data)))
		sum.Write(u.data)
		key, err := nameOf(sum)
		if err != nil {
			failed = err // the object gets no name, so it cannot be found
			continue
		}
		n.name(u.index, key)
	}
	n.done <- failed
}

// begin writes what precedes the content of an object in the hash that is its name.
func begin(sum hash.Hash, kind git.Kind, size int64) { fmt.Fprintf(sum, "%s %d\x00", kind, size) }

func nameOf(sum hash.Hash) (objectName, error) {
	key, collision := sum.(sha1cd.CollisionResistantHash).CollisionResistantSum(nil)
	if collision {
		return objectName{}, ErrCollision
	}
	return objectName(key), nil
}
