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

// fault is an invalid value of a module.
type fault struct {
	attribute string // the index of an invalid hash; -1 for the whole attribute
	element   int    // of the hashes; -1 for the whole attribute
	summary   string
	err       error
}

// faults returns the invalid values of a module.
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

// hashFaults allows at most one hash of each scheme. If there could be several, an attacker
// could add a hash so that other content is accepted.
func hashFaults(hashes []hashing.Hash) []fault {
	var found []fault
	add := func(element int, summary, format string, args ...any) {
		found = append(found, fault{"hashes", element, summary, fmt.Errorf(format, args...)})
	}
	if len(hashes) == 0 {
		add(-1, "Missing hashes", "without a hash the module cannot be verified; remove the block to lock the module anew")
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

// holdsPassword checks an address that was read. It finds less than holdsCredential, so
// that it does not refuse the query arguments of other tools.
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

// holdsCredential checks an address that is to be written.
func holdsCredential(address string) bool {
	return addrs.ParseModulePackage(address).WithoutCredentials() != addrs.ParseModulePackage(address)
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
	for _, e := range f.sortedProviders() {
		if !e.changed() {
			continue
		}
		for _, bad := range e.provider.checkFaults() {
			errs = append(errs, &ProviderError{Address: e.provider.Address, Attribute: bad.attribute, Err: bad.err})
		}
	}
	return errors.Join(errs...)
}
