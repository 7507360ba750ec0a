package configs

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// Arguments are the variables that a module call sets.
type Arguments struct {
	// Range is the header of the call's block.
	Range hcl.Range
	// Set has the places of the arguments, by the names of the variables.
	Set map[string]hcl.Range
}

// metaArguments are the arguments of a module block that set no variables.
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

// ReadArguments reads which variables the module calls of a directory set, by the names of
// the calls. Like ReadInterface, it skips what it cannot parse and evaluates nothing.
// Calls of tests are not among them.
func (r Reader) ReadArguments(ctx context.Context, dir Dir) (map[string]Arguments, error) {
	calls := make(map[string]Arguments)
	err := r.eachBody(ctx, dir, func(body hcl.Body, _ []byte) {
		content, _, _ := body.PartialContent(fileSchema)
		for _, block := range content.Blocks {
			call, known := calls[block.Labels[0]]
			if !known { // else an override file adds to it
				call = Arguments{Range: block.DefRange, Set: make(map[string]hcl.Range)}
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
	})
	return calls, err
}
