package disco

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// checkDuplicates refuses an object that has a property twice, since programs
// differ in which of the two they take. Whether it is an object, and valid, is
// for svcdisco to say.
func checkDuplicates(document []byte) error {
	dec := json.NewDecoder(bytes.NewReader(document))
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return nil
	}
	seen := make(map[string]bool)
	for dec.More() {
		// What is malformed here fails in svcdisco, with its position.
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
