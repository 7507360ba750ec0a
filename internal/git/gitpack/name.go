package gitpack

import (
	"fmt"

	"github.com/pjbgf/sha1cd"
)

// unnamed is an object whose name is still to be computed. One without a kind
// asks whether all before it have their names.
type unnamed struct {
	index int
	kind  Kind
	data  []byte
	named chan<- struct{}
}

// namer names objects while the next ones are inflated.
type namer struct {
	objects *Objects
	queue   chan unnamed
	done    chan error
}

// namesBehind bounds the objects that wait for their names in memory.
const namesBehind = 4

func newNamer(o *Objects) *namer {
	n := &namer{objects: o, queue: make(chan unnamed, namesBehind), done: make(chan error, 1)}
	go n.run()
	return n
}

func (n *namer) add(u unnamed) { n.queue <- u }

// wait waits for the names of all objects so far.
func (n *namer) wait() {
	named := make(chan struct{})
	n.queue <- unnamed{named: named}
	<-named
}

// finish waits for all names. The error is about any of the objects.
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
			failed = ErrCollision // and nobody finds it
			continue
		}
		n.objects.name(u.index, id(key))
	}
	n.done <- failed
}
