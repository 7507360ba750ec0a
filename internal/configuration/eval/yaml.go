package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"go.yaml.in/yaml/v3"
)

// maxYAMLDepth is that of JSON and HCL: see package hcldepth.
const maxYAMLDepth = 200

// yamlFunctions use the library of the stock tools. It expands aliases and merged mappings each time they occur, and
// takes time with the depth for each value: so all that is counted before.
func (m *Meter) yamlFunctions() map[string]function.Function {
	decode := ctyyaml.YAMLDecodeFunc
	return map[string]function.Function{
		"yamldecode": function.New(&function.Spec{
			Params: decode.Params(),
			Type: func(args []cty.Value) (cty.Type, error) {
				if text, _ := args[0].Unmark(); text.IsKnown() && !text.IsNull() {
					if err := m.chargeYAML(text.AsString()); err != nil {
						return cty.NilType, err
					}
				}
				return decode.ReturnTypeForValues(args)
			},
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return decode.Call(args) },
		}),
		"yamlencode": m.guard(ctyyaml.YAMLEncodeFunc, manyValues),
	}
}

func (m *Meter) chargeYAML(text string) error {
	if !m.charge(4 * int64(len(text))) {
		return m.err
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		found := yamlSizes{limit: m.left, known: make(map[*yaml.Node]yamlSize)}
		size, err := found.of(&document, 0)
		if err != nil {
			return err
		}
		if !m.charge(size.weight) {
			return m.err
		}
	}
}

// yamlSize is the size of a node with everything that its aliases stand for. depth is the number of levels in it.
type yamlSize struct {
	weight int64
	depth  int
}

type yamlSizes struct {
	limit int64
	known map[*yaml.Node]yamlSize // a node that is being measured has the depth -1
}

// of returns an error for a node that contains itself, or that is nested too deeply.
func (s *yamlSizes) of(n *yaml.Node, above int) (yamlSize, error) {
	size, ok := s.known[n]
	if !ok {
		s.known[n] = yamlSize{depth: -1}
		size = yamlSize{weight: 4*elementWeight + int64(len(n.Value)+len(n.Tag)), depth: 1}
		parts := n.Content
		if n.Kind == yaml.AliasNode {
			parts = []*yaml.Node{n.Alias}
		}
		for _, part := range parts {
			if above > maxYAMLDepth {
				break
			}
			below, err := s.of(part, above+1)
			if err != nil {
				return size, err
			}
			// The library takes time for each value at each level above it.
			size.weight = min(size.weight+below.weight+below.weight/16, s.limit+1)
			size.depth = max(size.depth, below.depth+1)
		}
		s.known[n] = size
	}
	if size.depth < 0 {
		return size, fmt.Errorf("line %d: the value contains itself", n.Line)
	}
	if above+size.depth > maxYAMLDepth {
		return size, fmt.Errorf("line %d: nested more than %d levels deep", n.Line, maxYAMLDepth)
	}
	return size, nil
}
