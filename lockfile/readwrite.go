package lockfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/atomicfile"
)

var (
	// ErrChanged is returned if the file changed since it was read.
	ErrChanged = atomicfile.ErrChanged

	// ErrIrregular is returned if the lock file is a link, a directory or a device.
	ErrIrregular = atomicfile.ErrIrregular
)

// ReadFile reads the lock file of the given name in root. If the file does not exist, it
// returns an empty File. If the content is invalid, the error is a *[SyntaxError]. If the
// file cannot be read, the error is an *fs.PathError, which wraps [ErrIrregular] if the
// file is not regular. Links are not followed.
func ReadFile(root *os.Root, name string) (*File, error) {
	src, err := read(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{}, nil
	}
	if err != nil {
		return nil, err
	}
	return Parse(src, name)
}

func read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrIrregular}
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// Read one byte more than allowed, so that Parse refuses the file.
	return io.ReadAll(io.LimitReader(file, MaxSize+1))
}

// WriteFile writes the file under a name in root, and reports whether it did. It does
// nothing if f has not changed since it was read or written. If the file on disk no longer
// has the bytes that were read, or was created since, the error wraps [ErrChanged] and the
// file is not changed. The file is replaced atomically: a crash leaves either the old file
// or the new one. The error is from [File.Check] or an *fs.PathError.
func (f *File) WriteFile(root *os.Root, name string) (bool, error) {
	if err := f.mustExist("WriteFile").Check(); err != nil {
		return false, err
	}
	data := f.Bytes()
	if bytes.Equal(data, f.src) {
		return false, nil
	}
	// The written file must be readable. If it is not, this package has a bug, and the
	// user's file is not replaced.
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

// Check returns an error if modules or providers that were set cannot be written. The error
// joins *[ModuleError] and *[ProviderError] values with errors.Join. For credentials, they
// wrap [ErrCredential]. Entries that have not changed since they were read are not checked
// again.
//
// [File.WriteFile] calls Check. Callers that write [File.Bytes] in another way must call
// Check first: Bytes omits a changed module with credentials, so that no secret is written,
// but includes other invalid modules.
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

// ErrCredential is returned for an address that contains a user name, a password
// or an argument that may be a secret. Such an address is not written.
var ErrCredential = errors.New("the address contains credentials, which must not be in a lock file")

// ModuleError is returned by [File.Check] for a module that cannot be written.
type ModuleError struct {
	Key       string
	Attribute string // the attribute with the error; "" for the key itself
	Err       error
}

func (e *ModuleError) Error() string { return lockError("module", e.Key, e.Attribute, e.Err) }
func (e *ModuleError) Unwrap() error { return e.Err }

// ProviderError is returned by [File.Check] for a provider that cannot be written.
type ProviderError struct {
	Address   addrs.Provider
	Attribute string // the attribute with the error; "" for the address itself
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
