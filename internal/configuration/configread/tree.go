package configread

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/configuration/eval"
	"github.com/cotterpin/cotter/internal/configuration/repofiles"
)

// Tree is one configuration: the modules that were read, what their expressions can refer to, and what
// their files declare. It is safe for concurrent use.
type Tree struct {
	inputs config.Inputs
	root   *scope
	work   eval.Tree
	files  variableFiles
	parsed parsedDirs
	recent recent
	// allowed is the directory whose files the user's own modules can read, found when it is needed.
	allowed struct {
		once sync.Once
		dir  *repofiles.Dir
		err  error
	}

	mu     sync.Mutex
	called map[string]*scope // by module
}

func NewTree(inputs config.Inputs) *Tree {
	t := &Tree{inputs: inputs, called: make(map[string]*scope)}
	t.root = &scope{tree: t}
	return t
}

// ReadModule implements [config.Reader]. A module can refer to the values that its call passes only if its
// caller was read before. The calls do not include those with a syntax error.
func (t *Tree) ReadModule(ctx context.Context, dir config.Dir) (config.Module, hcl.Diagnostics) {
	from := Dir{Module: dir.Path, Path: dir.Dir, Files: dir.Files, Subdir: dir.Subdir, Display: dir.Display, Tree: t}
	if dir.Path.IsRoot() {
		from.Tests = cmp.Or(t.inputs.TestDir, DefaultTests)
	}
	module, diags := Reader{Terraform: dir.Terraform, Providers: dir.Providers}.Read(ctx, from)
	module.Calls = slices.DeleteFunc(module.Calls, func(call config.Call) bool { return hasSyntaxError(call, diags) })
	return module, diags
}

// hasSyntaxError reports whether an error is in the lines of a call, up to the end of its source and
// version, whose address may then be only the beginning of what the user wrote.
func hasSyntaxError(call config.Call, diags hcl.Diagnostics) bool {
	last := max(call.Range.End.Line, call.SourceRange.End.Line, call.VersionRange.End.Line)
	return slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		at := diag.Subject
		return diag.Severity == hcl.DiagError && at != nil && at.Filename == call.Range.Filename &&
			call.Range.Start.Line <= at.Start.Line && at.Start.Line <= last
	})
}

func (t *Tree) scope(path addrs.Module) *scope {
	if path.IsRoot() {
		return t.root
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found := t.called[path.String()]; found != nil {
		return found
	}
	return &scope{tree: t}
}

func (t *Tree) add(path addrs.Module, called *scope) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.called[path.String()] = called
}

// recent keeps the most recently used declarations from being garbage collected: the modules that one
// module calls are read one after another, and may all need those of their caller.
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
