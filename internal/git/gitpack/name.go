package gitpack

import (
	"fmt"

	"github.com/pjbgf/sha1cd"
)

// unnamed is an object whose name must be computed. A value without a kind has the channel
// named instead, which is closed when all objects before it have names.
type unnamed struct {
	index int
	kind  Kind
	data  []byte
	named chan<- struct{}
}

// namer computes the names of objects while the next objects are inflated.
type namer struct {
	objects *Objects
	queue   chan unnamed
	done    chan error
}

// namesBehind bounds the number of objects in memory that wait for their names.
const namesBehind = 4

func newNamer(o *Objects) *namer {
	n := &namer{objects: o, queue: make(chan unnamed, namesBehind), done: make(chan error, 1)}
	go n.run()
	return n
}

func (n *namer) add(u unnamed) { n.queue <- u }

// wait waits until all objects that were added so far have names.
func (n *namer) wait() {
	named := make(chan struct{})
	n.queue <- unnamed{named: named}
	<-named
}

// finish waits until all objects have names. The error may be about any of the objects.
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
		n.objects.name(u.index, id(key))
	}
	n.done <- failed
}
