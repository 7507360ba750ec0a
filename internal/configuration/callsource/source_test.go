package callsource_test

import (
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/callsource"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func TestNewSource(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, address, version string // version "" means that there is no argument
		repository, constraint string
		inAddress, fails       bool
	}{
		{name: "a registry's", address: "acme/net/aws", version: "~> 1.2", constraint: "~> 1.2"},
		{name: "a repository", address: "git::https://git.example.com/net.git?ref=main", repository: "git::https://git.example.com/net.git?ref=main"},
		{name: "in the address", address: "git::https://git.example.com/net.git?version=~> 1.2", repository: "git::https://git.example.com/net.git", constraint: "~> 1.2", inAddress: true},
		{name: "beside it", address: "git::https://git.example.com/net.git", version: "1.2.0", repository: "git::https://git.example.com/net.git", constraint: "1.2.0"},
		{name: "both", address: "git::https://git.example.com/net.git?version=1", version: "1", fails: true},
		{name: "twice", address: "git::https://git.example.com/net.git?version=1&version=2", fails: true},
		{name: "with a ref", address: "git::https://git.example.com/net.git?ref=main&version=1", fails: true},
		{name: "an archive", address: "https://example.com/net.zip?version=1", repository: "https://example.com/net.zip?version=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address, err := addrs.ParseModuleSource(test.address)
			testenv.Must(t, err)
			var version *string
			if test.version != "" {
				version = &test.version
			}
			got, err := callsource.NewSource(address, version)
			if (err != nil) != test.fails {
				t.Fatalf("error %v, want one: %t", err, test.fails)
			}
			if test.fails {
				return
			}
			if got.Repository.String() != test.repository || got.Constraint != test.constraint || got.InAddress != test.inAddress || got.HasConstraint != (test.constraint != "") {
				t.Errorf("got %q, %q, %t, %t", got.Repository, got.Constraint, got.InAddress, got.HasConstraint)
			}
		})
	}
}

func TestMismatch(t *testing.T) {
	t.Parallel()
	address, err := addrs.ParseModuleSource("acme/net/aws")
	testenv.Must(t, err)
	source, err := callsource.NewSource(address, new("~> 1.2"))
	testenv.Must(t, err)
	if source.Want, err = versions.ParseConstraints(source.Constraint); err != nil {
		t.Fatal(err)
	}
	locked := source.LockAddress()
	for _, test := range []struct {
		entry lockfile.Module
		want  string
	}{
		{lockfile.Module{Source: locked, Version: versions.MustParse("1.2.3")}, ""},
		{lockfile.Module{Source: locked, Version: versions.MustParse("2.0.0")}, `the locked version 2.0.0 does not meet the constraint "~> 1.2"`},
		{lockfile.Module{Source: locked}, `the lock has no usable version`},
		{lockfile.Module{Source: testenv.Source("acme/other/aws"), Version: versions.MustParse("1.2.3")}, `the lock is for source "registry.opentofu.org/acme/other/aws"`},
	} {
		if got := source.Mismatch(test.entry); got != test.want {
			t.Errorf("%v: %q, want %q", test.entry, got, test.want)
		}
	}
}
