package configs

import (
	"slices"
	"sync"
	"weak"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/eval"
)

// Scope is what the expressions of one module can refer to: its variables,
// which its caller gives it, and its local values. It is safe for concurrent
// use. Making one costs nothing; files are read when a value is needed.
type Scope struct {
	tree *tree
	// caller is the calling module, and call and at the name and the place of
	// the module block. The root module has none; a module that a test runs
	// has no caller that could give it anything.
	caller *Scope
	call   string
	at     hcl.Range

	// mu is held while something of this module is evaluated. A module's
	// evaluation waits for that of its caller, never the other way round.
	mu  sync.Mutex
	dir Dir
	// found may be dropped when memory is needed, and is then read again: the
	// files of thousands of modules would fill it.
	found weak.Pointer[declarations]
}

// tree is what all modules of a tree share.
type tree struct {
	inputs Inputs
	root   *Scope
	work   eval.Tree
	files  variableFiles
	recent recent
}

// recent keeps what was last needed. The modules that one module calls come one
// after another, and all may need what that one declares.
type recent struct {
	mu   sync.Mutex
	ring [16]*declarations // about as many as are read side by side
	next int
}

func (r *recent) keep(d *declarations) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.ring[:], d) {
		r.ring[r.next] = d
		r.next = (r.next + 1) % len(r.ring)
	}
}

// NewRoot returns the scope of a root module with these inputs.
func NewRoot(inputs Inputs) *Scope {
	t := &tree{inputs: inputs}
	t.root = &Scope{tree: t}
	return t.root
}

// child is the scope of the module that a call leads to.
func (s *Scope) child(call string, at hcl.Range) *Scope {
	return &Scope{tree: s.tree, caller: s, call: call, at: at}
}

// runByTest is the scope of a module that a test runs.
func (s *Scope) runByTest() *Scope { return &Scope{tree: s.tree} }

func (s *Scope) isRoot() bool { return s.tree.root == s }

// read says where the module is. Only then can it be evaluated.
func (s *Scope) read(dir Dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir.Scope = nil // no cycle
	s.dir = dir
}

// declarations returns what the module's files declare. The caller holds the
// scope's lock.
func (e *evaluation) declarations(s *Scope) (*declarations, hcl.Diagnostics) {
	found := s.found.Value()
	if found == nil {
		found = e.reader.declarations(e.ctx, s.dir)
		s.found = weak.Make(found)
	}
	s.tree.recent.keep(found)
	return found, found.diags
}
