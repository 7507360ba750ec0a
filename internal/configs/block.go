package configs

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// block is one "module" block whose arguments are not evaluated yet.
type block struct {
	name            string
	header          hcl.Range
	source, version *hcl.Attribute // nil if absent
	// broken reports whether the file has syntax errors. If it does, the parser may have dropped
	// an argument, so a missing argument is not an error.
	broken bool
}

func decodeBlocks(parsed hcl.Blocks, broken bool) ([]*block, hcl.Diagnostics) {
	var blocks []*block
	var diags hcl.Diagnostics
	for _, p := range parsed {
		name := p.Labels[0] // the schema asks for exactly one
		if !hclsyntax.ValidIdentifier(name) {
			diags = append(diags, invalidName(name, p.LabelRanges[0]))
			continue
		}
		content, _, bodyDiags := p.Body.PartialContent(moduleSchema)
		diags = append(diags, bodyDiags...)
		blocks = append(blocks, &block{
			name:    name,
			header:  p.DefRange,
			source:  content.Attributes["source"],
			version: content.Attributes["version"],
			broken:  broken || bodyDiags.HasErrors(),
		})
	}
	return blocks, diags
}

// blockSet is the module blocks of a module, in the order of their declaration.
type blockSet struct {
	blocks []*block
	byName map[string]*block
}

// declare adds the blocks of a file that is not an override file. If two blocks have the same
// name, it keeps the first and reports the second.
func (s *blockSet) declare(blocks []*block) hcl.Diagnostics {
	var diags hcl.Diagnostics
	if s.byName == nil {
		s.byName = make(map[string]*block)
	}
	for _, b := range blocks {
		if first, ok := s.byName[b.name]; ok {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Duplicate module call",
				Detail: fmt.Sprintf("A module call named %q was already declared at %s. Rename or remove one of them: names must be unique within a module.",
					b.name, first.header),
				Subject: b.header.Ptr(),
			})
			continue
		}
		s.byName[b.name] = b
		s.blocks = append(s.blocks, b)
	}
	return diags
}

// override applies the blocks of an override file. There may be several blocks for one call.
func (s *blockSet) override(blocks []*block) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, b := range blocks {
		declared, ok := s.byName[b.name]
		if !ok {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Missing module call to override",
				Detail: fmt.Sprintf("There is no module call named %q. An override file can only change a call that another file of the same directory declares.",
					b.name),
				Subject: b.header.Ptr(),
			})
			continue
		}
		if b.source != nil {
			declared.source = b.source
		}
		if b.version != nil {
			declared.version = b.version
		}
		declared.broken = declared.broken || b.broken
	}
	return diags
}
