package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// errSkipped says that a case could not be tried.
var errSkipped = errors.New("not tried")

// check runs a program on a case and says what is wrong with the outcome.
func check(ctx context.Context, c *testCase, run program) error {
	dir, err := os.MkdirTemp("", "cotter-conformance-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path, stdin, err := c.prepare(dir)
	if err != nil {
		return err
	}
	out, status, err := run(ctx, c.verb, path, stdin)
	switch {
	case err != nil:
		return err
	case status == notImplemented:
		return fmt.Errorf("%w: the program does not do this", errSkipped)
	case c.refused && status == 0:
		return fmt.Errorf("it was accepted, with the output %q", out)
	case c.refused:
		return nil
	case status != 0:
		return fmt.Errorf("exit status %d", status)
	}
	switch c.verb {
	case "hash":
		return compareHashes(c.hashes, strings.Fields(string(out)))
	case "parse":
		return compareJSON(c.file("want.json"), out)
	}
	got, err := os.ReadFile(path)
	if err == nil && !bytes.Equal(got, c.file("after.hcl")) {
		err = fmt.Errorf("the file is now\n%s\nand should be\n%s", got, c.file("after.hcl"))
	}
	return err
}

// prepare writes the files of a case. It returns the path to run the program with, and
// its standard input.
func (c *testCase) prepare(dir string) (path string, stdin []byte, err error) {
	lock := filepath.Join(dir, ".terraform.lock.hcl")
	switch c.verb {
	case "hash":
		if !c.tree.fits() {
			return "", nil, fmt.Errorf("%w: this system cannot hold the tree", errSkipped)
		}
		return dir, nil, c.writeTree(dir)
	case "parse":
		return lock, nil, os.WriteFile(lock, c.file("lock.hcl"), 0o644)
	}
	return lock, c.file("edit.json"), os.WriteFile(lock, c.file("before.hcl"), 0o644)
}

// compareHashes compares the hashes that were printed. A program may have one of the
// schemes.
func compareHashes(want, got []string) error {
	if len(got) == 0 {
		return errors.New("it printed no hash")
	}
	for _, hash := range got {
		scheme, _, _ := strings.Cut(hash, ":")
		if slices.Contains(want, hash) {
			continue
		}
		for _, w := range want {
			if strings.HasPrefix(w, scheme+":") {
				return fmt.Errorf("it printed %s, not %s", hash, w)
			}
		}
		return fmt.Errorf("it printed %q, of a scheme that the case does not have", hash)
	}
	return nil
}

// compareJSON compares what two texts mean.
func compareJSON(want, got []byte) error {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return fmt.Errorf("the case is broken: %w", err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return fmt.Errorf("it printed no JSON: %w", err)
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Errorf("it printed\n%s\nand should print\n%s", got, want)
	}
	return nil
}
