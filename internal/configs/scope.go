package configs

import (
	"slices"
	"sync"
	"weak"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/eval"
	"github.com/cotterpin/cotter/internal/repofiles"
)

// Scope is what the expressions of one module can refer to: its variables, whose values come from
// its caller, and its local values. It is safe for concurrent use. It reads files only when a
// value is needed.
type Scope struct {
	tree *tree
	// caller is the calling module, call is the name of the module block, and at is its place. The
	// root module and a module that a test runs have no caller.
	caller *Scope
	call   string
	at     hcl.Range

	// mu is held while a value of this module is evaluated. The evaluation of a module may wait
	// for its caller, but never the reverse.
	mu  sync.Mutex
	dir Dir
	// found may be garbage collected; the files are then read again. Keeping the declarations of
	// thousands of modules would take too much memory.
	found weak.Pointer[declarations]
}

// tree is the state that all modules of a tree share.
type tree struct {
	inputs Inputs
	root   *Scope
	work   eval.Tree
	files  variableFiles
	recent recent
	// allowed is the directory whose files the user's own modules can read. It is found when the
	// first of them is read.
	allowed struct {
		once sync.Once
		dir  *repofiles.Dir
		err  error
	}
}

// recent keeps the most recently used declarations from being garbage collected. The modules that
// one module calls are read one after another, and all of them may need the declarations of their
// caller.
type recent struct {
	mu   sync.Mutex
	ring [16]*declarations // about as many as modules that are read concurrently
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

// child returns the scope of a called module.
func (s *Scope) child(call string, at hcl.Range) *Scope {
	return &Scope{tree: s.tree, caller: s, call: call, at: at}
}

// runByTest returns the scope of a module that a test runs.
func (s *Scope) runByTest() *Scope { return &Scope{tree: s.tree} }

func (s *Scope) isRoot() bool { return s.tree.root == s }

// read sets the module's directory. It must be called before the module is evaluated.
func (s *Scope) read(dir Dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	dir.Scope = nil // avoids a cycle
	s.dir = dir
}

// declarations returns the declarations in the module's files. The caller must hold the scope's
// lock.
func (e *evaluation) declarations(s *Scope) (*declarations, hcl.Diagnostics) {
	found := s.found.Value()
	if found == nil {
		found = e.reader.declarations(e.ctx, s.dir)
		s.found = weak.Make(found)
	}
	s.tree.recent.keep(found)
	return found, found.diags
}
