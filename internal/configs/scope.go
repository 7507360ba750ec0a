package configs

import (
	"context"
	"sync"
	"weak"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// scope is what the expressions of one module can refer to: its variables, whose values come from
// its caller, and its local values. It reads files only when a value is needed.
type scope struct {
	tree *Tree
	// caller is the calling module, call is the name of the module block, and at is its position. The
	// root module has no caller, nor has a module that a test runs or whose caller was not read.
	caller *scope
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

func (s *scope) child(call string, at hcl.Range) *scope {
	return &scope{tree: s.tree, caller: s, call: call, at: at}
}

func (s *scope) isRoot() bool { return s.tree.root == s }

// read sets the module's directory. It must be called before the module is evaluated.
func (s *scope) read(dir Dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
}

// declarations returns the declarations in the module's files. The caller must hold the scope's
// lock.
func (e *evaluation) declarations(s *scope) (*declarations, hcl.Diagnostics) {
	found := s.found.Value()
	if found == nil {
		found = &declarations{declared: s.tree.parsed.declared(e.ctx, e.reader, s.dir), values: map[string]cty.Value{}}
		s.found = weak.Make(found)
	}
	s.tree.recent.keep(found)
	return found, found.diags
}

// declarations are the declarations in a module's files, with the values that they have in the
// module.
type declarations struct {
	*declared
	// values are the variables and local values that have been evaluated, by reference.
	values map[string]cty.Value
}

// declared are the declarations in a directory that may be needed to evaluate the expressions of a
// module and those of the modules that it calls. They do not change.
type declared struct {
	variables map[string]*declaration
	locals    map[string]*hcl.Attribute
	// calls have the arguments of the module blocks.
	calls map[string]*declaration
	// diags are the errors that occurred while the files were read.
	diags hcl.Diagnostics
}

type declaration struct {
	at         hcl.Range
	attributes hcl.Attributes
}

var (
	kinds             = [][]byte{[]byte("variable"), []byte("locals"), keyword}
	declarationSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "variable", LabelNames: []string{"name"}},
		{Type: "locals"},
		{Type: "module", LabelNames: []string{"name"}},
	}}
)

func (r Reader) declared(ctx context.Context, dir Dir) *declared {
	found := &declared{
		variables: map[string]*declaration{},
		locals:    map[string]*hcl.Attribute{},
		calls:     map[string]*declaration{},
	}
	err := r.eachFile(ctx, dir, func(d *directory, f file) error {
		body, diags := d.parseFile(ctx, f, kinds...)
		found.diags = append(found.diags, limitSyntaxErrors(diags, dir.display(f.name))...)
		if body != nil {
			found.add(body, f.override)
		}
		return nil
	})
	found.diags = append(found.diags, unreadable(ctx, dir, err)...)
	return found
}

// add adds the declarations of a file. It does not report other errors in the file: the stock
// tools report them, and readFile reports the errors in module blocks.
func (d *declared) add(body hcl.Body, override bool) {
	content, _, _ := body.PartialContent(declarationSchema)
	for _, block := range content.Blocks {
		attributes, _ := block.Body.JustAttributes()
		switch block.Type {
		case "locals":
			for name, attribute := range attributes {
				d.locals[name] = attribute
			}
		case "variable":
			declare(d.variables, block, attributes, override)
		case "module":
			declare(d.calls, block, attributes, override)
		}
	}
}

// declare adds a block. If the block is in an override file, declare adds its attributes to the
// block that it overrides.
func declare(to map[string]*declaration, block *hcl.Block, attributes hcl.Attributes, override bool) {
	name := block.Labels[0]
	first, ok := to[name]
	switch {
	case !ok && !override:
		to[name] = &declaration{at: block.DefRange, attributes: attributes}
	case ok && override:
		for name, attribute := range attributes {
			first.attributes[name] = attribute
		}
	}
}
