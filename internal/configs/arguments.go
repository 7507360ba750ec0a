package configs

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Arguments are the arguments of a module call that set variables of the called module.
type Arguments struct {
	// Range is the header of the call's block.
	Range hcl.Range
	// Set has the place of each argument by the name of the variable.
	Set map[string]hcl.Range
	// Used has the first place that uses each output of the called module, by the name of the
	// output. It covers only references in native syntax that name the output.
	Used map[string]hcl.Range
}

// metaArguments are the arguments of a module block that do not set variables.
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

// ReadArguments reads which variables the module calls of a directory set and which outputs of
// the called modules the directory uses. The keys of the result are the names of the calls. Like
// ReadInterface, it skips what it cannot parse and evaluates nothing. It does not read the calls
// of tests.
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

// outputUses returns the references to outputs of modules in a file.
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
