package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/disk/atomicfile"
)

var (
	// ErrChanged is returned if the file changed since it was read.
	ErrChanged = atomicfile.ErrChanged

	// ErrIrregular is returned if the lock file is a link, a directory or a device.
	ErrIrregular = atomicfile.ErrIrregular
)

// ReadFile reads the lock file of the given name in root, without following links. A file that does not
// exist is an empty File. The error is a *[SyntaxError], or an *fs.PathError if the file cannot be read,
// which wraps [ErrIrregular] if it is not regular.
func ReadFile(root *os.Root, name string) (*File, error) {
	src, err := atomicfile.Read(root, name, MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(src, name)
}

// WriteFile replaces the file under a name in root atomically, and reports whether it did: not if f has not
// changed since it was read or written. If the file on disk no longer has the bytes that were read, or was
// created since, the error wraps [ErrChanged]. The error is from [File.Check] or an *fs.PathError.
func (f *File) WriteFile(root *os.Root, name string) (bool, error) {
	if err := f.mustExist("WriteFile").Check(); err != nil {
		return false, err
	}
	data := f.Bytes()
	if bytes.Equal(data, f.src) {
		return false, nil
	}
	// If the written file were not readable, because of a bug in this package, the user's file is not
	// replaced.
	written, err := Parse(data, name)
	if err != nil {
		return false, &fs.PathError{Op: "write", Path: name, Err: fmt.Errorf("the new content would be invalid: %w", err)}
	}
	if err := atomicfile.Write(root, name, data, atomicfile.Options{Swap: true, Old: f.src}); err != nil {
		return false, err
	}
	*f = *written
	return true, nil
}

// Check returns an error if entries that were set cannot be written; unchanged ones are not checked again.
// It joins *[ModuleError] and *[ProviderError] values, which wrap [ErrCredential] for credentials.
//
// [File.WriteFile] calls Check. Callers that write [File.Bytes] in another way must call it first: Bytes
// omits a changed module with credentials, so that no secret is written, but includes other invalid
// modules.
func (f *File) Check() error {
	f = f.orEmpty()
	var errs []error
	for _, m := range f.modules.changed() {
		for _, bad := range m.writeFaults() {
			errs = append(errs, &ModuleError{Key: m.Key, Attribute: bad.attribute, Err: bad.err})
		}
	}
	for _, p := range f.providers.changed() {
		for _, bad := range p.writeFaults() {
			errs = append(errs, &ProviderError{Address: p.Address, Attribute: bad.attribute, Err: bad.err})
		}
	}
	return errors.Join(errs...)
}

// ErrCredential is returned for an address with a user name, a password or an argument that may be a
// secret.
var ErrCredential = errors.New("the address contains credentials, which must not be in a lock file")

// ModuleError is returned by [File.Check] for a module that cannot be written.
type ModuleError struct {
	Key       string
	Attribute string
	Err       error
}

func (e *ModuleError) Error() string { return lockError("module", e.Key, e.Attribute, e.Err) }
func (e *ModuleError) Unwrap() error { return e.Err }

// ProviderError is returned by [File.Check] for a provider that cannot be written.
type ProviderError struct {
	Address   addrs.Provider
	Attribute string
	Err       error
}

func (e *ProviderError) Error() string {
	return lockError("provider", e.Address.String(), e.Attribute, e.Err)
}
func (e *ProviderError) Unwrap() error { return e.Err }

func lockError(blockType, label, attribute string, err error) string {
	if attribute == "" {
		return fmt.Sprintf("cannot lock %s %q: %s", blockType, label, err)
	}
	return fmt.Sprintf("cannot lock %s %q: %s: %s", blockType, label, attribute, err)
}
