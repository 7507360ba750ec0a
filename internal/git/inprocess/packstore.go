package inprocess

import (
	"fmt"
	"os"

	"github.com/cotterpin/cotter/internal/git"
	"github.com/pjbgf/sha1cd"
)

// spill is a temporary file for what is not kept in memory.
type spill struct {
	dir  string
	file *os.File // nil before the first write
	size int64
}

func (s *spill) write(data []byte) (at int64, err error) {
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.dir, ".objects-*"); err != nil {
			return 0, err
		}
	}
	at = s.size
	n, err := s.file.Write(data)
	s.size += int64(n)
	return at, err
}

func (s *spill) read(at, size int64) ([]byte, error) {
	data := make([]byte, size)
	_, err := s.file.ReadAt(data, at)
	return data, err
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
		fmt.Fprintf(sum, "%s %d\x00", u.kind, len(u.data))
		sum.Write(u.data)
		key, collision := sum.(sha1cd.CollisionResistantHash).CollisionResistantSum(nil)
		if collision {
			failed = ErrCollision // the object gets no name, so it cannot be found
			continue
		}
		n.name(u.index, objectName(key))
	}
	n.done <- failed
}
