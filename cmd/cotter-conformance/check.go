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

	"github.com/cotterpin/cotter/lockfile"
)

// errSkipped means that a case could not be run.
var errSkipped = errors.New("not run")

// check runs a program on a case. The error describes what is wrong with the outcome; it
// wraps errSkipped if the case could not be run.
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
		return fmt.Errorf("%w: the program does not implement this", errSkipped)
	case c.refused && status == 0:
		return fmt.Errorf("the program accepted it, with the output %q", out)
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
		err = fmt.Errorf("the file is now\n%s\nbut should be\n%s", got, c.file("after.hcl"))
	}
	return err
}

// prepare writes the files of a case. It returns the path and the standard input to run the
// program with.
func (c *testCase) prepare(dir string) (path string, stdin []byte, err error) {
	lock := filepath.Join(dir, lockfile.Name)
	switch c.verb {
	case "hash":
		if !c.tree.fits() {
			return "", nil, fmt.Errorf("%w: this system cannot hold the tree", errSkipped)
		}
		return dir, nil, c.writeTree(dir)
	case "parse":
		return lock, nil, os.WriteFile(lock, c.file("lock.hcl"), 0o644)
	}
	return lock, c.file(c.verb + ".json"), os.WriteFile(lock, c.file("before.hcl"), 0o644)
}

// compareHashes compares the hashes that a program has printed with those of the case. A
// program need not print the hashes of all schemes.
func compareHashes(want, got []string) error {
	if len(got) == 0 {
		return errors.New("the program printed no hash")
	}
	for _, hash := range got {
		scheme, _, _ := strings.Cut(hash, ":")
		if slices.Contains(want, hash) {
			continue
		}
		for _, w := range want {
			if strings.HasPrefix(w, scheme+":") {
				return fmt.Errorf("the program printed %s, not %s", hash, w)
			}
		}
		return fmt.Errorf("the program printed %q, with a scheme that the case does not have", hash)
	}
	return nil
}

func compareJSON(want, got []byte) error {
	var w, g any
	if err := json.Unmarshal(want, &w); err != nil {
		return fmt.Errorf("the case is broken: %w", err)
	}
	if err := json.Unmarshal(got, &g); err != nil {
		return fmt.Errorf("the program did not print JSON: %w", err)
	}
	if !reflect.DeepEqual(w, g) {
		return fmt.Errorf("the program printed\n%s\nbut should print\n%s", got, want)
	}
	return nil
}
