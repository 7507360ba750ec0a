package lockfile

import (
	"errors"
	"fmt"
)

// ErrCredential says that an address holds a user name, a password or an
// argument that may be a secret, and so must not be written.
var ErrCredential = errors.New("the address holds credentials, which must not be in a lock file")

// ModuleError is a module that cannot be written to a lock file as it was set.
type ModuleError struct {
	Key       string
	Attribute string // which attribute is wrong; "" for the key itself
	Err       error
}

func (e *ModuleError) Error() string {
	if e.Attribute == "" {
		return fmt.Sprintf("cannot lock module %q: %s", e.Key, e.Err)
	}
	return fmt.Sprintf("cannot lock module %q: %s: %s", e.Key, e.Attribute, e.Err)
}

func (e *ModuleError) Unwrap() error { return e.Err }
