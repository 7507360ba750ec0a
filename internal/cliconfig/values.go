package cliconfig

import (
	"strconv"

	"github.com/cotterpin/cotter/internal/cliconfig/hcl1"
)

// The functions here read an argument of a block: its value, and whether it is
// there. A value of the wrong kind is reported and counts as not there. As in
// HCL 1, numbers and booleans may stand in quotes.

func (d *decoder) text(at hcl1.Pos, body hcl1.Object, name string) (string, bool) {
	value, found := body.Last(name)
	text, ok := value.(string)
	if found && !ok {
		d.fault(at, "%q has to be a string.", name)
	}
	return text, ok
}

func (d *decoder) texts(at hcl1.Pos, body hcl1.Object, name string) ([]string, bool) {
	value, found := body.Last(name)
	if !found {
		return nil, false
	}
	list, ok := value.(hcl1.List)
	texts := make([]string, 0, len(list))
	for _, element := range list {
		text, isText := element.(string)
		texts, ok = append(texts, text), ok && isText
	}
	if !ok {
		d.fault(at, "%q has to be a list of strings.", name)
	}
	return texts, ok
}

func (d *decoder) boolean(at hcl1.Pos, body hcl1.Object, name string) (value, ok bool) {
	written, found := body.Last(name)
	switch written := written.(type) {
	case bool:
		return written, true
	case string:
		if value, err := strconv.ParseBool(written); err == nil {
			return value, true
		}
	}
	if found {
		d.fault(at, "%q has to be true or false.", name)
	}
	return false, false
}

// count is a whole number from 0 up to a limit.
func (d *decoder) count(at hcl1.Pos, body hcl1.Object, name string, limit int) (int, bool) {
	written, found := body.Last(name)
	if !found {
		return 0, false
	}
	digits, ok := written.(string)
	if number, isNumber := written.(hcl1.Number); isNumber {
		digits, ok = string(number), true
	}
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n > limit {
		d.fault(at, "%q has to be a whole number from 0 to %d.", name, limit)
		return 0, false
	}
	return n, true
}
