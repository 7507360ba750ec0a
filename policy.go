package cotter

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// rules are the policies of a run: what one of them refuses is refused.
type rules []*policy.Policy

// each returns the first violation that check finds.
func (r rules) each(check func(*policy.Policy) error) error {
	for _, p := range r {
		if err := check(p); err != nil {
			return err
		}
	}
	return nil
}

// checkCall checks a call by what is written: in the configuration, and in the lock
// if that has an entry for it.
func (r rules) checkCall(c *call, lock *lockfile.File) error {
	written := policy.Call{Source: c.source, Constraint: c.want, Own: c.own()}
	if err := r.each(func(p *policy.Policy) error { return p.CheckCall(written) }); err != nil {
		return c.fail(err)
	}
	entry, locked := lock.Module(c.key())
	if !locked || entry.Source != c.lockSource() {
		return nil // it does not decide this call
	}
	pkg, _ := lockedPackage(entry)
	if err := r.allow(pkg); err != nil {
		return c.fail(fmt.Errorf("the lock has package %s: %w", pkg.Redacted(), err))
	}
	return nil
}

// allow checks a place that something other than the call names.
func (r rules) allow(pkg addrs.ModulePackage) error {
	return r.each(func(p *policy.Policy) error { return p.CheckPackage(pkg) })
}

// checkProvider checks the address of a provider.
func (r rules) checkProvider(provider addrs.Provider) error {
	return r.each(func(p *policy.Policy) error { return p.CheckProvider(provider) })
}

// checkAuthentication checks how a provider's package was proven.
func (r rules) checkAuthentication(auth getproviders.Authentication) error {
	return policy.CheckSignature(auth.Weak, r...)
}

// restrictPlaces reports whether it matters where a package is from.
func (r rules) restrictPlaces() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return len(p.Allow)+len(p.Deny) > 0 })
}

// places is the same text for rules that allow the same places.
func (r rules) places() string {
	var b strings.Builder
	for _, p := range r {
		fmt.Fprintf(&b, "allow %q deny %q\n", p.Allow, p.Deny)
	}
	return b.String()
}

func (r rules) haveMinAge() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.MinAge > 0 })
}

func (r rules) denyBranches() bool {
	return slices.ContainsFunc(r, func(p *policy.Policy) bool { return p.DenyBranches })
}

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

// readRules reads the policies of a request.
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
// it within the repository. Without a policy, it returns an empty string.
func findPolicy(dir string) string {
	for _, at := range project.RepositoryDirs(dir) {
		if name := filepath.Join(at, policyFileName); exists(name) {
			return name
		}
	}
	return ""
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
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is not a regular file")}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, policy.MaxSize+1))
}
