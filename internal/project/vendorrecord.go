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

// maxVendorRecord is in bytes. A key has at most 255.
const maxVendorRecord = 8 << 20

type vendorRecord struct {
	root string // of the root module, relative to the directory, with slashes
	// keys are sorted.
	keys []string
}

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

// parseVendorRecord refuses keys that cannot be the names of packages' directories, because directories
// are removed according to the record.
func parseVendorRecord(text []byte) (vendorRecord, error) {
	var r vendorRecord
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, "\r")
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

// isKey makes sure that a name stays inside the directory; package installer checks keys completely.
func isKey(name string) bool {
	return name != "" && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\:\x00")
}

func newVendorRecord(root string, keys []string) vendorRecord {
	return vendorRecord{root: root, keys: slices.Compact(slices.Sorted(slices.Values(keys)))}
}

// readRecord also returns the text of the record. If there is none, the error wraps fs.ErrNotExist.
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
	// Root is the path of the other root module, relative to the directory, or "".
	Root string
}

func (e *NotOursError) Error() string {
	if e.Root != "" {
		return fmt.Sprintf("%s has the vendored packages of another root module, %s from there", e.Dir, e.Root)
	}
	return fmt.Sprintf("%s has files that were not written as vendored packages", e.Dir)
}

func (e *NotOursError) Unwrap() error { return ErrNotOurs }

var ErrNotOurs = errors.New("the directory has other content than vendored packages")

// ownRecord returns the record of the directory and its text, or a new one and nil if there is nothing
// but what a killed process left before it wrote a record. The error for other content is a
// *NotOursError.
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

// isAbandoned reports whether an entry of a directory without a record is the .cotter of a killed
// process: with stages, and without sums.
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

func isLeftover(name string) bool {
	return strings.HasPrefix(name, vendorStagePrefix) || strings.HasPrefix(name, vendorRetiredPrefix)
}

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
