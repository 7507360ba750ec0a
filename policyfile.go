package cotter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/policy"
)

// policyFileName is the file that has a project's policy.
const policyFileName = "cotter.hcl"

// PolicyFileError is a policy that cannot be used as it is: nothing is done
// without it. It wraps hcl.Diagnostics.
type PolicyFileError struct {
	File        string
	Diagnostics hcl.Diagnostics
}

func (e *PolicyFileError) Error() string { return e.Diagnostics.Error() }
func (e *PolicyFileError) Unwrap() error { return e.Diagnostics }

// readRules reads the policies that a request is subject to.
func (r Request) readRules() (rules, error) {
	all := rules(r.Policies)
	name, shown := r.PolicyFile, r.PolicyFile
	if name == "" {
		dir, err := filepath.Abs(r.dir())
		if err != nil {
			return nil, err
		}
		if name = findPolicy(dir); name == "" {
			return all, nil
		}
		if shown, err = filepath.Rel(dir, name); err != nil {
			return nil, err
		}
	}
	src, err := readRegular(name)
	if err != nil {
		return nil, err
	}
	found, diags := policy.Parse(src, filepath.ToSlash(shown))
	if diags.HasErrors() {
		return nil, &PolicyFileError{File: shown, Diagnostics: diags}
	}
	return append(rules{found}, all...), nil
}

// findPolicy is the policy's file in a directory, or else the nearest one above
// it as far as the repository goes; "" where there is none. Those beyond the
// repository are not the project's.
func findPolicy(dir string) string {
	for _, at := range repositoryDirs(dir) {
		if name := filepath.Join(at, policyFileName); exists(name) {
			return name
		}
	}
	return ""
}

// repositoryDirs are an absolute directory and those above it as far as its git
// repository goes; the directory alone if it is in none.
func repositoryDirs(dir string) []string {
	dirs := []string{dir}
	for at := dir; !exists(filepath.Join(at, ".git")); {
		if at == filepath.Dir(at) {
			return dirs[:1]
		}
		at = filepath.Dir(at)
		dirs = append(dirs, at)
	}
	return dirs
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// readRegular reads a file that is no larger than a policy may be, and a byte
// more of one that is. It does not wait for devices and pipes.
func readRegular(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no regular file")}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}
