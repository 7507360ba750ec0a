package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/lockfile"
)

// reference implements the protocol with the packages of this module.
func reference(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintln(stderr, "usage: cotter-conformance reference hash|parse|edit|select PATH")
		return wrongUsage
	}
	var err error
	switch args[0] {
	case "hash":
		err = hash(args[1], stdout)
	case "parse":
		err = parse(args[1], stdout)
	case "edit":
		err = edit(args[1], stdin)
	case "select":
		err = selectProviders(args[1], stdin)
	default:
		return notImplemented
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return failure
	}
	return 0
}

// hash prints the hashes of the tree in a directory.
func hash(dir string, stdout io.Writer) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	tree, err := hashing.ReadTree(context.Background(), hashing.RootFS(root))
	if err := errors.Join(err, root.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s\n%s\n", tree.H1(), tree.T1())
	return err
}

// lockJSON is a lock in the form that programs print.
type lockJSON struct {
	Modules   []lockfile.Module   `json:"modules"`
	Providers []lockfile.Provider `json:"providers"`
}

type editJSON struct {
	Set    []lockfile.Module `json:"set"`
	Remove []string          `json:"remove"`
}

func readLock(name string) (*lockfile.File, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return lockfile.Parse(src, name)
}

func parse(name string, stdout io.Writer) error {
	lock, err := readLock(name)
	if err != nil {
		return err
	}
	found := lockJSON{append([]lockfile.Module{}, slices.Concat(lock.Modules(), lock.Directories())...), append([]lockfile.Provider{}, lock.Providers()...)}
	for i := range found.Providers {
		found.Providers[i].Hashes = append([]hashing.Hash{}, found.Providers[i].Hashes...) // [] and not null
	}
	slices.SortFunc(found.Modules, func(a, b lockfile.Module) int { return strings.Compare(a.Key, b.Key) })
	encoder := json.NewEncoder(stdout)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(found)
}

// edit applies the change in stdin to a lock file.
func edit(name string, stdin io.Reader) error {
	var change editJSON
	if err := json.NewDecoder(stdin).Decode(&change); err != nil {
		return err
	}
	lock, err := readLock(name)
	if err != nil {
		return err
	}
	for _, m := range change.Set {
		lock.SetModule(m)
	}
	for _, key := range change.Remove {
		lock.RemoveModule(key)
	}
	return writeLock(name, lock)
}

func writeLock(name string, lock *lockfile.File) error {
	if err := lock.Check(); err != nil {
		return err
	}
	return os.WriteFile(name, lock.Bytes(), 0o644)
}

// selectProviders writes the providers in stdin, which an installation has selected, to a lock
// file of stock tools.
func selectProviders(name string, stdin io.Reader) error {
	var selected lockJSON
	if err := json.NewDecoder(stdin).Decode(&selected); err != nil {
		return err
	}
	lock, err := readLock(name)
	if err != nil {
		return err
	}
	if faults := lock.StockFaults(addrs.Parser{}); faults.HasErrors() {
		return faults
	}
	var all []lockfile.Provider
	for _, p := range selected.Providers {
		old, _ := lock.Provider(p.Address)
		all = append(all, old.Merge(p))
	}
	lock.SetProviders(all)
	return writeLock(name, lock)
}
