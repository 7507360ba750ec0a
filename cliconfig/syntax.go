package cliconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl"
	"github.com/hashicorp/hcl/hcl/ast"
	"github.com/hashicorp/hcl/hcl/parser"
	"github.com/hashicorp/hcl/hcl/token"
	hclv2 "github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

// object is the content of a file or of a pair of braces, in order; keys may repeat. In HCL version 1, a
// block is an object that is nested in its labels, so
//
//	host "example.com" { services { "modules.v1" = "/m/" } }
//	host = { "example.com" = { services = { "modules.v1" = "/m/" } } }
//
// and {"host": {"example.com": {"services": {"modules.v1": "/m/"}}}} are the same object.
type object []item

// item is a key with its value: a string, [number], bool, [list] or [object].
type item struct {
	key      string
	value    any
	at       hclv2.Pos // of the key; in JSON only a position before it
	assigned bool
}

type list []any

type number string

// maxBrackets limits opening brackets in a file: the parser recurses on them without its own limit, and an
// exhausted stack ends the process. A block needs one or two.
const maxBrackets = 2000

// maxTokens limits tokens in a file, also in strings and comments. The parser takes 700 bytes for each, and
// a block has ten or twenty.
const maxTokens = 100_000

// syntaxError says that a file cannot be parsed. It quotes no part of the file, which may contain tokens.
type syntaxError struct {
	at     hclv2.Pos
	reason string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.at.Line, e.at.Column, e.reason)
}

// parse uses the parser of the stock tools. Not the file's name but its first character determines whether
// it is JSON. The error is a *syntaxError.
func parse(src []byte) (content object, err error) {
	if offset := excessBracket(src); offset >= 0 {
		return nil, &syntaxError{position(src, offset), fmt.Sprintf("it has more than %d opening brackets", maxBrackets)}
	}
	if tokens := hcldepth.CountTokens(src); tokens > maxTokens {
		return nil, &syntaxError{hclv2.InitialPos, fmt.Sprintf("it has about %d tokens (names, values, brackets, line ends), and the limit is %d", tokens, maxTokens)}
	}
	var c converter
	// The library panics on some inputs, such as unknown escapes and large numbers, and quotes them.
	defer func() {
		if recover() != nil {
			content, err = nil, &syntaxError{c.at, "a value here is invalid"}
		}
	}()
	file, err := hcl.ParseBytes(src)
	if failure, ok := errors.AsType[*parser.PosError](err); ok {
		return nil, &syntaxError{toPos(failure.Pos), "the syntax is wrong here"}
	}
	if err != nil { // errors of the JSON parser have no position
		return nil, jsonError(src)
	}
	top, _ := file.Node.(*ast.ObjectList) // both parsers return an *ast.ObjectList
	return c.object(top), nil
}

// excessBracket returns the offset of the first bracket above the limit, or -1. It also counts brackets in
// strings and comments.
func excessBracket(src []byte) int {
	count := 0
	for i, b := range src {
		if b == '{' || b == '[' {
			if count++; count > maxBrackets {
				return i
			}
		}
	}
	return -1
}

// jsonError returns the position of the first JSON error. The library also refuses some valid files, such
// as with null in a list.
func jsonError(src []byte) *syntaxError {
	var content json.RawMessage
	if failure, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(src, &content)); ok {
		return &syntaxError{position(src, max(0, int(failure.Offset)-1)), "it is not valid JSON"}
	}
	return &syntaxError{hclv2.InitialPos, "its JSON has something that HCL 1 does not allow"}
}

func position(src []byte, offset int) hclv2.Pos {
	before := src[:min(offset, len(src))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return hclv2.Pos{Line: bytes.Count(before, []byte("\n")) + 1, Column: len(before) - start + 1}
}

func toPos(p token.Pos) hclv2.Pos { return hclv2.Pos{Line: max(1, p.Line), Column: max(1, p.Column)} }

// converter converts the library's syntax tree. at is the position of the current node, for errors.
type converter struct{ at hclv2.Pos }

func (c *converter) object(parsed *ast.ObjectList) object {
	if parsed == nil {
		return nil
	}
	var content object
	for _, field := range parsed.Items {
		var keys []item
		for _, key := range field.Keys {
			// Keys have no positions in JSON, but their assignments do.
			if c.at = toPos(key.Token.Pos); !key.Token.Pos.IsValid() {
				c.at = toPos(field.Assign)
			}
			text, _ := key.Token.Value().(string) // IDENT or STRING
			keys = append(keys, item{key: text, at: c.at})
		}
		if len(keys) == 0 {
			continue
		}
		value := c.value(field.Val)
		for i := len(keys) - 1; i > 0; i-- {
			keys[i].value = value
			value = object{keys[i]}
		}
		keys[0].value = value
		keys[0].assigned = field.Assign.IsValid() && field.Keys[0].Token.Pos.IsValid() // in JSON only colons have positions
		content = append(content, keys[0])
	}
	return content
}

func (c *converter) value(node ast.Node) any {
	switch node := node.(type) {
	case *ast.ObjectType:
		return c.object(node.List)
	case *ast.ListType:
		values := make(list, 0, len(node.List))
		for _, element := range node.List {
			values = append(values, c.value(element))
		}
		return values
	case *ast.LiteralType:
		if node.Token.Pos.IsValid() {
			c.at = toPos(node.Token.Pos)
		}
		if node.Token.Type == token.NUMBER || node.Token.Type == token.FLOAT {
			return number(node.Token.Text)
		}
		return node.Token.Value()
	}
	return nil
}

func (o object) last(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i].value, true
		}
	}
	return nil, false
}

// entries returns the items of an object, or of a list of objects, another way to write repeated blocks.
func entries(value any) (items object, ok bool) {
	switch value := value.(type) {
	case object:
		return value, true
	case list:
		for _, element := range value {
			content, ok := element.(object)
			if !ok {
				return nil, false
			}
			items = append(items, content...)
		}
		return items, true
	}
	return nil, false
}
