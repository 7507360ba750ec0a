package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
)

func inModule(key string, err error) error {
	return &installer.ModuleError{Path: addrs.Module{key}, Err: err}
}

func ofProvider(err error) error {
	return &installer.ProviderError{Provider: addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "hashicorp", Type: "cloud"}, Err: err}
}

// TestRemediesJSON checks that with --json each message has its suggestion.
func TestRemediesJSON(t *testing.T) {
	t.Parallel()
	var stdout, stderr bytes.Buffer
	err := &installer.ModuleError{Path: addrs.Module{"net"}, Err: installer.ErrNotInstalled}
	(&output{stdout: &stdout, stderr: &stderr, json: true}).printError(err)
	const want = `{"v":1,"type":"error","summary":"module net","detail":"module not installed","module":"net","remedy":"Run ` + "`cotter install`" + ` to install what is missing."}` + "\n"
	if diff := cmp.Diff(want, stdout.String()); diff != "" || stderr.Len() > 0 {
		t.Errorf("stdout (-want +got):\n%s\nstderr: %s", diff, &stderr)
	}
}

// TestSameDetail checks that a detail that several messages share is printed once.
func TestSameDetail(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	(&output{stderr: &stderr}).printError(errors.Join(
		inModule("a", installer.ErrNotInstalled), inModule("b", installer.ErrCycle), inModule("c", installer.ErrNotInstalled), errors.New("x"), errors.New("y")))
	const want = `Error: module not installed

  module a
  module c

Error: module b: the module calls itself

Error: x

Error: y

Run ` + "`cotter install`" + ` to install what is missing.
`
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Errorf("stderr (-want +got):\n%s", diff)
	}
}
