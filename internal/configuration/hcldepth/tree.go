package hcldepth

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// operatorsPerLevel consecutive binary operators or indexes count as one level: evaluating them needs stack.
const operatorsPerLevel = 20

func checkTree(src []byte, root hclsyntax.Node) hcl.Diagnostics {
	if fitting(src, MaxDepth*operatorWeight) == len(src) {
		return nil
	}
	var w depthWalker
	_ = hclsyntax.Walk(root, &w) // the walker has no diagnostics
	if w.first == nil {
		return nil
	}
	return tooDeep(*w.first, false)
}

type depthWalker struct {
	depth int // in operators
	first *hcl.Range
	// keys are those of the index expressions around the node. A key is in brackets.
	keys []hclsyntax.Node
}

func (w *depthWalker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	w.depth += w.levelsOf(node)
	if index, ok := node.(*hclsyntax.IndexExpr); ok {
		w.keys = append(w.keys, index.Key)
	}
	if w.depth <= MaxDepth*operatorsPerLevel {
		return nil
	}
	// Attributes are visited in any order.
	if at := node.Range(); w.first == nil || at.Start.Byte < w.first.Start.Byte {
		w.first = &at
	}
	return nil
}

func (w *depthWalker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if _, ok := node.(*hclsyntax.IndexExpr); ok {
		w.keys = w.keys[:len(w.keys)-1]
	}
	w.depth -= w.levelsOf(node)
	return nil
}

func (w *depthWalker) levelsOf(node hclsyntax.Node) int {
	if n := len(w.keys); n > 0 && w.keys[n-1] == node {
		return operatorsPerLevel + levelsOf(node)
	}
	return levelsOf(node)
}

// levelsOf returns what a node adds to the depth, in operators.
func levelsOf(node hclsyntax.Node) int {
	switch node.(type) {
	case *hclsyntax.Block, *hclsyntax.ParenthesesExpr, *hclsyntax.FunctionCallExpr, *hclsyntax.TupleConsExpr,
		*hclsyntax.ObjectConsExpr, *hclsyntax.ForExpr, *hclsyntax.ConditionalExpr, *hclsyntax.UnaryOpExpr,
		*hclsyntax.SplatExpr, *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr, *hclsyntax.TemplateJoinExpr:
		return operatorsPerLevel
	case *hclsyntax.BinaryOpExpr, *hclsyntax.IndexExpr, *hclsyntax.RelativeTraversalExpr:
		return 1
	}
	return 0
}
