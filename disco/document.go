package disco

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// checkDuplicates refuses an object with a duplicate property, because programs differ in
// which of the two values they use. svcdisco checks whether the document is a valid object.
func checkDuplicates(document []byte) error {
	dec := json.NewDecoder(bytes.NewReader(document))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	seen := make(map[string]bool)
	for dec.More() {
		// svcdisco returns the error for a malformed document, with its position.
		token, err := dec.Token()
		if err != nil {
			return nil
		}
		name, _ := token.(string)
		if seen[name] {
			return fmt.Errorf("%w: the document has the property %q twice", ErrInvalidAnswer, name)
		}
		seen[name] = true
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil
		}
	}
	return nil
}
