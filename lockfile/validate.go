package lockfile

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/versions"
)

// fault is what is wrong with a module, whether it was read or set.
type fault struct {
	attribute string // "" for the key
	element   int    // of the hashes; -1 for the whole attribute
	summary   string
	err       error
}

// faults lists what is wrong with a module's values.
func (m Module) faults() []fault {
	var found []fault
	add := func(attribute, summary string, err error) {
		if err != nil {
			found = append(found, fault{attribute, -1, summary, err})
		}
	}
	add("", "Invalid module key", keyFault(m.Key))
	add("source", "Invalid source address", sourceFault(m.Source))
	add("package", "Invalid package address", textFault(m.Package))
	if m.Version != "" {
		_, err := versions.Parse(m.Version)
		add("version", "Invalid version", err)
	}
	if m.Constraints != "" {
		_, err := versions.ParseConstraints(m.Constraints)
		add("constraints", "Invalid version constraint", err)
	}
	return append(found, hashFaults(m.Hashes)...)
}

func keyFault(key string) error {
	path, err := addrs.ParseModule(key)
	if err == nil && path.IsRoot() {
		return errors.New("the key is empty")
	}
	return err
}

func sourceFault(source string) error {
	if source == "" {
		return errors.New("the source address is empty")
	}
	return textFault(source)
}

func textFault(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not valid UTF-8")
	}
	return nil
}

// hashFaults holds that one value at most counts for a scheme: a list in which
// any value will do could be extended by an attacker who wants other content to pass.
func hashFaults(hashes []hashing.Hash) []fault {
	var found []fault
	add := func(element int, summary, format string, args ...any) {
		found = append(found, fault{"hashes", element, summary, fmt.Errorf(format, args...)})
	}
	if len(hashes) == 0 {
		add(-1, "Missing hashes", "without a hash nothing can be verified; remove the block to lock the module anew")
		return found
	}
	seen, strong := map[string]bool{}, false
	for i, h := range hashes {
		if _, err := hashing.ParseHash(string(h)); err != nil {
			add(i, "Invalid hash", "%w", err)
			continue
		}
		if seen[h.Scheme()] {
			add(i, "Conflicting hashes", "there are two hashes of scheme %q, and only one can be right", h.Scheme())
		}
		seen[h.Scheme()] = true
		strong = strong || h.Strong()
	}
	if !strong && len(found) == 0 {
		add(-1, "No usable hash", "an h1: or a t1: hash is needed to verify the module; remove the block to lock it anew")
	}
	return found
}

// holdsPassword is the test for addresses that were read. It is narrower than
// that for addresses to write, so as not to refuse another tool's query
// arguments.
func holdsPassword(address string) bool {
	pkg, _ := addrs.SplitSubdir(address)
	u, err := addrs.ParseModulePackage(pkg).URL()
	if err != nil {
		_, behind, isURL := strings.Cut(address, "://")
		return isURL && strings.Contains(behind, "@")
	}
	_, isSet := u.User.Password()
	return isSet
}

// holdsCredential is the test for addresses to write.
func holdsCredential(address string) bool {
	return addrs.ParseModulePackage(address).WithoutCredentials() != addrs.ParseModulePackage(address)
}

// Check reports why modules that were set cannot be written: each is a
// *[ModuleError], for some of them over [ErrCredential], joined by errors.Join.
// Modules as they were read are not looked at again.
//
// [File.WriteFile] calls it. Who writes [File.Bytes] in another way has to:
// Bytes leaves out a changed module with credentials, so that no secret gets
// into a file, and writes other invalid modules as they are.
func (f *File) Check() error {
	var errs []error
	for _, e := range f.sorted() {
		if !e.changed() {
			continue
		}
		for _, bad := range e.module.faults() {
			errs = append(errs, &ModuleError{Key: e.module.Key, Attribute: bad.attribute, Err: bad.err})
		}
		if holdsCredential(e.module.Source) {
			errs = append(errs, &ModuleError{Key: e.module.Key, Attribute: "source", Err: ErrCredential})
		}
		if holdsCredential(e.module.Package) {
			errs = append(errs, &ModuleError{Key: e.module.Key, Attribute: "package", Err: ErrCredential})
		}
	}
	return errors.Join(errs...)
}
