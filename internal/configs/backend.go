package configs

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Backend is the backend of a root module: the location of its state.
type Backend struct {
	// Type is "cloud" for a cloud block, and "" if the module has neither.
	Type  string
	Local LocalBackend // for the type "local"
}

// LocalBackend has the arguments of a "local" backend. An argument that is absent or null is "".
type LocalBackend struct {
	Path, WorkspaceDir string
}

// Hash returns the hash by which stock tools recognize that a backend block has changed.
func (b LocalBackend) Hash() uint64 {
	arguments := cty.ObjectVal(map[string]cty.Value{"path": orNull(b.Path), "workspace_dir": orNull(b.WorkspaceDir)})
	return uint64(cty.TupleVal([]cty.Value{cty.StringVal("local"), arguments}).Hash())
}

func orNull(s string) cty.Value {
	if s == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(s)
}

var (
	backendWords = [][]byte{[]byte("backend"), []byte("cloud")}
	localSchema  = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "path"}, {Name: "workspace_dir"}}}

	errBackends   = errors.New("the configuration has more than one backend")
	errUnreadable = errors.New("the configuration cannot be read")
)

// ReadBackend reads the backend of a root module. As in stock tools, a block in an override file
// replaces the whole block before it, whether these are backend or cloud blocks. The arguments of a
// "local" backend are evaluated like the source of a module call for tofu. For terraform they are
// literals, and strings in JSON are verbatim.
//
// The error says why the backend is not known. It never has the value of an argument.
func (r Reader) ReadBackend(ctx context.Context, dir Dir) (Backend, error) {
	block, err := r.backendBlock(ctx, dir)
	switch {
	case err != nil || block == nil:
		return Backend{}, err
	case block.Type == "cloud":
		return Backend{Type: "cloud"}, nil
	case block.Labels[0] != "local":
		return Backend{Type: block.Labels[0]}, nil
	}
	found := Backend{Type: "local"}
	content, _, diags := block.Body.PartialContent(localSchema)
	if diags.HasErrors() {
		return Backend{}, fmt.Errorf("the backend at %s cannot be read", position(block.DefRange))
	}
	evaluator := r.arguments(ctx, dir.scope(), nil)
	found.Local.Path, err = evaluator.ofBackend(ctx, content.Attributes["path"])
	if err == nil {
		found.Local.WorkspaceDir, err = evaluator.ofBackend(ctx, content.Attributes["workspace_dir"])
	}
	if err != nil {
		return Backend{}, err
	}
	return found, nil
}

func (r Reader) backendBlock(ctx context.Context, dir Dir) (*hcl.Block, error) {
	var found *hcl.Block
	var broken error // in a file that could be opened
	err := r.eachFile(ctx, dir, func(d *directory, f file) error {
		body, diags := d.parseFile(ctx, f, backendWords...)
		if diags.HasErrors() {
			broken = fmt.Errorf("%s cannot be read", dir.display(f.name))
			return broken
		}
		if body == nil {
			return nil
		}
		switch blocks := backendsOf(body); {
		case len(blocks) > 1, len(blocks) == 1 && found != nil && !f.override:
			broken = errBackends
		case len(blocks) == 1:
			found = blocks[0]
		}
		return broken
	})
	if err != nil {
		return nil, cmp.Or(broken, errUnreadable)
	}
	return found, nil
}

func backendsOf(body hcl.Body) (found hcl.Blocks) {
	content, _, _ := body.PartialContent(settingsSchema)
	for _, block := range content.Blocks {
		if block.Type == "terraform" {
			inner, _, _ := block.Body.PartialContent(terraformSchema)
			found = append(found, inner.Blocks...)
		}
	}
	return found
}

// ofBackend evaluates an argument of a "local" backend, or nil. An empty string is an error, as in stock
// tools.
func (a *arguments) ofBackend(ctx context.Context, attr *hcl.Attribute) (string, error) {
	if attr == nil {
		return "", nil
	}
	unknown := fmt.Errorf("the %s of the backend at %s cannot be evaluated", attr.Name, position(attr.Range))
	what := argument{attr.Name, &block{name: "local"}, attr.Expr}
	var text cty.Value
	var diags hcl.Diagnostics
	if a.reader.Terraform {
		value, ok := literalValue(attr.Expr)
		if !ok {
			return "", unknown
		}
		text, diags = what.asText(value)
	} else {
		text, _, diags = a.text(ctx, what)
	}
	switch {
	case diags.HasErrors(), !text.IsKnown(), !text.IsNull() && text.AsString() == "":
		return "", unknown
	case text.IsNull():
		return "", nil
	}
	return text.AsString(), nil
}
