package vendordir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/internal/atomicfile"
)

// The names in the directory.
const (
	ownName    = ".cotter"
	sumsName   = "sums"
	recordFile = "vendored"
	recordName = ownName + "/" + recordFile

	stagePrefix   = "stage-"
	retiredPrefix = "retired-"
)

// maxRecord is the maximum size of a record in bytes. A key has at most 255 bytes.
const maxRecord = 8 << 20

// record has the root module of a directory and the packages that were written to it.
type record struct {
	// root is the path of the root module, relative to the directory, with slashes.
	root string
	// keys are the keys of the packages, sorted.
	keys []string
}

// recordComment explains the record to readers of the repository.
const recordComment = "# The packages beside this directory were written by \"cotter vendor\", from the lock of the root module.\n"

func (r record) text() []byte {
	var b strings.Builder
	b.WriteString(recordComment)
	fmt.Fprintf(&b, "root %s\n", r.root)
	for _, key := range r.keys {
		fmt.Fprintf(&b, "package %s\n", key)
	}
	return []byte(b.String())
}

// parseRecord parses a record. A key that cannot be the name of a package's directory is an
// error, because directories are removed according to the record.
func parseRecord(text []byte) (record, error) {
	var r record
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
			return record{}, fmt.Errorf("%s, line %d: %q is neither the root module nor a package", recordName, i+1, line)
		}
	}
	if r.root == "" {
		return record{}, fmt.Errorf("%s does not name the root module", recordName)
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

// readRecord reads the record of the directory. If there is none, the error wraps fs.ErrNotExist.
func (d *Dir) readRecord() (record, error) {
	own, err := d.openOwn()
	if err != nil {
		return record{}, err
	}
	defer own.Close()
	text, err := atomicfile.Read(own, recordFile, maxRecord)
	if err != nil {
		return record{}, err
	}
	return parseRecord(text)
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

// own returns the record of the directory, or a new one if the directory does not exist or is
// empty. If the directory belongs to something else, the error is a *NotOursError.
func (d *Dir) own() (record, error) {
	r, err := d.readRecord()
	if err == nil && r.root != d.root {
		return r, &NotOursError{Dir: d.name, Root: r.root}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	if len(entries) > 0 {
		return r, &NotOursError{Dir: d.name}
	}
	return record{root: d.root}, nil
}
