package configread

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Arguments are the arguments of a module call that set variables, and the uses of its outputs.
type Arguments struct {
	Range hcl.Range            // the header of the call's block
	Set   map[string]hcl.Range // by the name of the variable
	// Used has the first use of each output, by the name of the output. It covers only references in
	// native syntax that name the output.
	Used map[string]hcl.Range
}

var metaArguments = []string{"source", "version", "providers", "count", "for_each", "depends_on", "enabled"}

var callBlocksSchema = &hcl.BodySchema{
	Attributes: func() (schema []hcl.AttributeSchema) {
		for _, name := range metaArguments {
			schema = append(schema, hcl.AttributeSchema{Name: name})
		}
		return schema
	}(),
	Blocks: []hcl.BlockHeaderSchema{{Type: "providers"}, {Type: "lifecycle"}},
}

// ReadArguments returns the arguments of the module calls of a directory by the names of the calls,
// without those of tests. Like ReadInterface, it skips what it cannot parse and evaluates nothing.
func (r Reader) ReadArguments(ctx context.Context, dir Dir) (map[string]Arguments, error) {
	calls := make(map[string]Arguments)
	var uses []outputUse
	err := r.eachBody(ctx, dir, func(body hcl.Body, _ []byte) {
		content, _, _ := body.PartialContent(fileSchema)
		for _, block := range content.Blocks {
			call, known := calls[block.Labels[0]]
			if !known { // otherwise an override file adds to it
				call = Arguments{Range: block.DefRange, Set: make(map[string]hcl.Range), Used: make(map[string]hcl.Range)}
			}
			_, rest, _ := block.Body.PartialContent(callBlocksSchema)
			attributes, _ := rest.JustAttributes()
			for name, attr := range attributes {
				if !slices.Contains(metaArguments, name) {
					call.Set[name] = attr.Range
				}
			}
			calls[block.Labels[0]] = call
		}
		if native, ok := body.(*hclsyntax.Body); ok {
			uses = append(uses, outputUses(native)...)
		}
	})
	for _, use := range uses {
		if _, known := calls[use.call].Used[use.output]; !known && calls[use.call].Used != nil {
			calls[use.call].Used[use.output] = use.at
		}
	}
	return calls, err
}

type outputUse struct {
	call, output string
	at           hcl.Range
}

func outputUses(body *hclsyntax.Body) []outputUse {
	var uses []outputUse
	add := func(call string, behind hcl.Traversal, at hcl.Range) {
		for _, step := range behind {
			if attr, ok := step.(hcl.TraverseAttr); ok {
				uses = append(uses, outputUse{call, attr.Name, at})
				return
			}
		}
	}
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics {
		switch expr := node.(type) {
		case *hclsyntax.ScopeTraversalExpr: // module.net.id, module.net[0].id
			if call, ok := calledModule(expr); ok {
				add(call, expr.Traversal[2:], expr.SrcRange)
			}
		case *hclsyntax.RelativeTraversalExpr: // module.net[each.key].id
			if index, ok := expr.Source.(*hclsyntax.IndexExpr); ok {
				if call, ok := calledModule(index.Collection); ok {
					add(call, expr.Traversal, expr.SrcRange)
				}
			}
		case *hclsyntax.SplatExpr: // module.net[*].id
			call, ok := calledModule(expr.Source)
			if each, isTraversal := expr.Each.(*hclsyntax.RelativeTraversalExpr); ok && isTraversal {
				add(call, each.Traversal, expr.SrcRange)
			}
		}
		return nil
	})
	return uses
}

func calledModule(expr hclsyntax.Expression) (name string, ok bool) {
	traversal, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(traversal.Traversal) < 2 || traversal.Traversal.RootName() != "module" {
		return "", false
	}
	attr, ok := traversal.Traversal[1].(hcl.TraverseAttr)
	return attr.Name, ok
}
