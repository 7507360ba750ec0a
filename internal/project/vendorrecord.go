package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// maxVendorRecord is the maximum size of a record in bytes. A key has at most 255 bytes.
const maxVendorRecord = 8 << 20

// vendorRecord has the root module of a directory and the packages that were written to it.
type vendorRecord struct {
	// root is the path of the root module, relative to the directory, with slashes.
	root string
	// keys are the keys of the packages, sorted.
	keys []string
}

// vendorRecordComment explains the record to readers of the repository.
const vendorRecordComment = "# The packages beside this directory were written by Cotter, from the lock of the root module.\n"

func (r vendorRecord) text() []byte {
	var b strings.Builder
	b.WriteString(vendorRecordComment)
	fmt.Fprintf(&b, "root %s\n", r.root)
	for _, key := range r.keys {
		fmt.Fprintf(&b, "package %s\n", key)
	}
	return []byte(b.String())
}

// parseVendorRecord parses a record. A key that cannot be the name of a package's directory is an
// error, because directories are removed according to the record.
func parseVendorRecord(text []byte) (vendorRecord, error) {
	var r vendorRecord
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSuffix(line, "\r")
		word, value, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case word == "root" && value != "" && r.root == "":
			r.root = value
		case word == "package" && isKey(value):
			r.keys = append(r.keys, value)
		default:
			return vendorRecord{}, fmt.Errorf("%s, line %d: %q is neither the root module nor a package", vendorRecordName, i+1, line)
		}
	}
	if r.root == "" {
		return vendorRecord{}, fmt.Errorf("%s does not name the root module", vendorRecordName)
	}
	slices.Sort(r.keys)
	r.keys = slices.Compact(r.keys)
	return r, nil
}

// isKey reports whether a name can be that of a package's directory. It only makes sure that the
// name stays inside the directory; package cotter checks keys completely.
func isKey(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\:\x00")
}

// newVendorRecord returns the record of a root module's packages.
func newVendorRecord(root string, keys []string) vendorRecord {
	return vendorRecord{root: root, keys: slices.Compact(slices.Sorted(slices.Values(keys)))}
}

// readRecord reads the record of the directory, and returns its text too. If there is none, the
// error wraps fs.ErrNotExist.
func (d *VendorDir) readRecord() (vendorRecord, []byte, error) {
	own, err := d.openOwn()
	if err != nil {
		return vendorRecord{}, nil, err
	}
	defer own.Close()
	text, err := atomicfile.Read(own, path.Base(vendorRecordName), maxVendorRecord)
	if err != nil {
		return vendorRecord{}, nil, err
	}
	r, err := parseVendorRecord(text)
	return r, text, err
}

// NotOursError says that a directory has other files, or the packages of another root module.
type NotOursError struct {
	// Dir is the directory as the user named it, or the directory of a package in it.
	Dir string
	// Root is the path of the other root module, relative to the directory. It is "" if the files
	// are not vendored packages at all.
	Root string
}

func (e *NotOursError) Error() string {
	if e.Root != "" {
		return fmt.Sprintf("%s has the vendored packages of another root module, %s from there", e.Dir, e.Root)
	}
	return fmt.Sprintf("%s has files that were not written as vendored packages", e.Dir)
}

// Unwrap returns [ErrNotOurs].
func (e *NotOursError) Unwrap() error { return ErrNotOurs }

// ErrNotOurs says that a directory for vendored packages has other content.
var ErrNotOurs = errors.New("the directory has other content than vendored packages")

// ownRecord returns the record of the directory and its text, or a new one and nil if the
// directory does not exist or has nothing but what a killed process left before it wrote a record.
// If the directory belongs to something else, the error is a *NotOursError.
func (d *VendorDir) ownRecord() (vendorRecord, []byte, error) {
	r, text, err := d.readRecord()
	switch {
	case err == nil && r.root != d.root:
		return r, nil, &NotOursError{Dir: d.name, Root: r.root}
	case !errors.Is(err, fs.ErrNotExist):
		return r, text, err
	}
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, nil, err
	}
	if len(entries) > 1 || len(entries) == 1 && !d.isAbandoned(entries[0]) {
		return r, nil, &NotOursError{Dir: d.name}
	}
	return vendorRecord{root: d.root}, nil, nil
}

// isAbandoned reports whether an entry of a directory without a record is what a killed process
// has left: a .cotter with stages, and without sums.
func (d *VendorDir) isAbandoned(entry fs.DirEntry) bool {
	if entry.Name() != ownName || !entry.IsDir() {
		return false
	}
	names, err := os.ReadDir(filepath.Join(d.path, ownName))
	sums, _ := os.ReadDir(filepath.Join(d.path, filepath.FromSlash(vendorSumsName)))
	return err == nil && len(sums) == 0 && !slices.ContainsFunc(names, func(e fs.DirEntry) bool {
		name := ownName + "/" + e.Name()
		return name != vendorSumsName && !isLeftover(name)
	})
}

// isLeftover reports whether a name in the directory is that of a stage or of retired packages.
func isLeftover(name string) bool {
	return strings.HasPrefix(name, vendorStagePrefix) || strings.HasPrefix(name, vendorRetiredPrefix)
}

// Removed returns the packages that were written to the directory and are not in keep.
func (d *VendorDir) Removed(keep []string) ([]string, error) {
	r, _, err := d.readRecord()
	if errors.Is(err, fs.ErrNotExist) || err == nil && r.root != d.root {
		return nil, nil // Commit reports a foreign directory if a change is needed
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.keys, func(key string) bool { return slices.Contains(keep, key) }), nil
}
