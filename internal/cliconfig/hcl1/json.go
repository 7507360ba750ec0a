package hcl1

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// jsonParser takes objects key by key: unlike a map, a file has an order, and
// places to name in messages.
type jsonParser struct {
	scanner
	decoder *json.Decoder
	limit   int
}

func parseJSON(src []byte, limit int) (Object, error) {
	p := &jsonParser{scanner: scanner{src: src}, decoder: json.NewDecoder(bytes.NewReader(src)), limit: limit}
	p.decoder.UseNumber()
	value, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := p.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, p.fail("there is more behind the object")
	}
	object, _ := value.(Object) // it begins with "{"
	return object, nil
}

func (p *jsonParser) fail(reason string) error {
	return p.failAt(int(p.decoder.InputOffset()), reason)
}

func (p *jsonParser) token() (json.Token, error) {
	token, err := p.decoder.Token()
	if err != nil {
		return nil, p.fail("this is not valid JSON") // the decoder's words quote the file
	}
	return token, nil
}

func (p *jsonParser) value(depth int) (any, error) {
	token, err := p.token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		return Number(token), nil
	case json.Delim:
		if depth == p.limit {
			return nil, p.fail("nested too deeply")
		}
		if token == '{' {
			return p.object(depth + 1)
		}
		return p.list(depth + 1)
	}
	return token, nil // string, bool or nil
}

func (p *jsonParser) object(depth int) (any, error) {
	var object Object
	for p.decoder.More() {
		key, err := p.token()
		if err != nil {
			return nil, err
		}
		// The offset is behind the key, thus in its line.
		item := Item{Pos: p.position(int(p.decoder.InputOffset()))}
		item.Key, _ = key.(string) // the decoder takes no other keys
		if item.Value, err = p.value(depth); err != nil {
			return nil, err
		}
		object = append(object, item)
	}
	_, err := p.token()
	return object, err
}

func (p *jsonParser) list(depth int) (any, error) {
	var list List
	for p.decoder.More() {
		value, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := p.token()
	return list, err
}
