package configread

import (
	"context"
	"sync"
	"weak"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// scope is what the expressions of one module can refer to: variables, whose values come from its
// caller, and local values. It reads files only when a value is needed.
type scope struct {
	tree *Tree
	// caller is the calling module, and call and at are the name and position of the module block. The
	// root module and those whose caller was not read have none.
	caller *scope
	call   string
	at     hcl.Range
	// run is the run block of a test that calls the module, or nil.
	run *run

	// mu is held while a value of this module is evaluated. That may wait for the caller, never the
	// reverse.
	mu  sync.Mutex
	dir Dir
	// found may be garbage collected and read again: the declarations of thousands of modules would take
	// too much memory.
	found weak.Pointer[declarations]
}

func (s *scope) child(call string, at hcl.Range) *scope {
	return &scope{tree: s.tree, caller: s, call: call, at: at}
}

func (s *scope) isRoot() bool { return s.tree.root == s }

// read must be called before the module is evaluated.
func (s *scope) read(dir Dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dir = dir
}

// declarations must be called with the scope's lock.
func (e *evaluation) declarations(s *scope) (*declarations, hcl.Diagnostics) {
	found := s.found.Value()
	if found == nil {
		found = &declarations{declared: s.tree.parsed.declared(e.ctx, e.reader, s.dir), values: map[string]cty.Value{}}
		s.found = weak.Make(found)
	}
	s.tree.recent.keep(found)
	diags := copies(found.diags)
	if !s.dir.inPackage() {
		s.tree.withoutText(s.dir, diags)
	}
	return found, diags
}

// declarations are the declarations in a module's files, with what was evaluated, by reference.
type declarations struct {
	*declared
	values map[string]cty.Value
}

// declared are the declarations in a directory that expressions of the module and of those that it calls
// may need. They do not change.
type declared struct {
	variables map[string]*declaration
	locals    map[string]*hcl.Attribute
	calls     map[string]*declaration
	diags     hcl.Diagnostics // from reading the files
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

// add reports no errors: the stock tools do, and readFile does for module blocks.
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

// declare adds a block, or the attributes of one in an override file.
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
