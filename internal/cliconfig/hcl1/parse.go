package hcl1

import "bytes"

// Parse reads a file. limit is how many objects and lists may stand in each
// other. The error is a *[SyntaxError].
func Parse(src []byte, limit int) (Object, error) {
	src = bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(bytes.TrimLeft(src, " \t\r\n"), []byte("{")) {
		return parseJSON(src, limit)
	}
	p := &parser{scanner: scanner{src: src}, limit: limit}
	if err := p.advance(); err != nil {
		return nil, err
	}
	return p.items(end)
}

// parser is one token ahead.
type parser struct {
	scanner
	token token
	depth int
	limit int
}

func (p *parser) advance() (err error) {
	p.token, err = p.next()
	return err
}

// fail is an error at the token.
func (p *parser) fail(reason string) error {
	return &SyntaxError{Pos: p.position(p.token.offset), Reason: reason}
}

// items reads the items up to a closing token. Commas may stand behind them,
// and nothing has to.
func (p *parser) items(closing kind) (Object, error) {
	var object Object
	for p.token.kind != closing {
		item, err := p.item()
		if err != nil {
			return nil, err
		}
		object = append(object, item)
		if p.token.kind == comma {
			if err := p.advance(); err != nil {
				return nil, err
			}
		}
	}
	return object, nil
}

// item reads keys and a value. Each key behind the first is a label.
func (p *parser) item() (Item, error) {
	var keys []Item
	for p.token.kind == identifier || p.token.kind == text {
		if len(keys) > p.limit {
			return Item{}, p.fail("too many labels")
		}
		keys = append(keys, Item{Key: p.token.text, Pos: p.position(p.token.offset)})
		if err := p.advance(); err != nil {
			return Item{}, err
		}
	}
	switch {
	case len(keys) == 0:
		return Item{}, p.fail("a name is expected here")
	case p.token.kind == assign && len(keys) == 1:
		if err := p.advance(); err != nil {
			return Item{}, err
		}
	case p.token.kind != openBrace:
		return Item{}, p.fail(`"{" is expected here, or "=" behind a single name`)
	}
	value, err := p.value()
	if err != nil {
		return Item{}, err
	}
	for i := len(keys) - 1; i > 0; i-- {
		keys[i].Value = value
		value = Object{keys[i]}
	}
	keys[0].Value = value
	return keys[0], nil
}

func (p *parser) value() (any, error) {
	t := p.token
	switch t.kind {
	case openBrace, openBracket:
		return p.nested(t.kind)
	case text:
		return t.text, p.advance()
	case number:
		return Number(t.text), p.advance()
	case identifier:
		if t.text == "true" || t.text == "false" {
			return t.text == "true", p.advance()
		}
	}
	return nil, p.fail(`a value is expected here: "text", a number, true, false, "[" or "{"`)
}

func (p *parser) nested(opening kind) (value any, err error) {
	if p.depth++; p.depth > p.limit {
		return nil, p.fail("nested too deeply")
	}
	defer func() { p.depth-- }()
	if err := p.advance(); err != nil {
		return nil, err
	}
	if opening == openBrace {
		value, err = p.items(closeBrace)
	} else {
		value, err = p.list()
	}
	if err != nil {
		return nil, err
	}
	return value, p.advance()
}

// list reads up to the closing bracket, with a comma between two values.
func (p *parser) list() (List, error) {
	var list List
	for p.token.kind != closeBracket {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, value)
		switch p.token.kind {
		case comma:
			if err := p.advance(); err != nil {
				return nil, err
			}
		case closeBracket:
		default:
			return nil, p.fail(`"," or "]" is expected here`)
		}
	}
	return list, nil
}
