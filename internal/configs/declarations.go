package configs

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// declarations are the declarations in a module's files that may be needed to evaluate its
// expressions and those of the modules that it calls.
type declarations struct {
	variables map[string]*declaration
	locals    map[string]*hcl.Attribute
	// calls have the arguments of the module blocks.
	calls map[string]*declaration
	// diags are the errors that occurred while the files were read.
	diags hcl.Diagnostics
	// values are the variables and local values that have been evaluated, by reference.
	values map[string]cty.Value
}

// declaration is a block with its overrides applied.
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

// declarations reads the declarations in the files of a directory.
func (r Reader) declarations(ctx context.Context, dir Dir) *declarations {
	found := &declarations{
		variables: map[string]*declaration{},
		locals:    map[string]*hcl.Attribute{},
		calls:     map[string]*declaration{},
		values:    map[string]cty.Value{},
	}
	d, err := openDirectory(dir)
	if err != nil {
		found.diags = hcl.Diagnostics{unreadableDirectory(dir, err)}
		return found
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		found.diags = hcl.Diagnostics{unreadableDirectory(dir, err)}
		return found
	}
	for _, file := range r.selectFiles(names) {
		if err := ctx.Err(); err != nil {
			found.diags = append(found.diags, interrupted(dir, err))
			return found
		}
		body, diags := d.parseFile(ctx, file, kinds...)
		found.diags = append(found.diags, limitSyntaxErrors(diags, dir.display(file.name))...)
		if body != nil {
			found.add(body, file.override)
		}
	}
	return found
}

// add adds the declarations of a file. It does not report other errors in the file: the stock
// tools report them, and readFile reports the errors in module blocks.
func (d *declarations) add(body hcl.Body, override bool) {
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
