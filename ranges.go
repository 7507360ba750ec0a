package cotter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// Versions of git repositories and OCI repositories are their tags. A call asks
// for a range of them by a version argument in the source address, which stock
// tools let pass:
//
//	source = "git::https://git.example.com/net.git?version=~> 1.2"
//
// or by a version argument beside it, which stock tools refuse: a run warns of
// that, and embedding tools may have a use for it.

// ErrRangeAndRef says that a call asks for a range of versions and for one
// particular ref, tag or digest as well.
var ErrRangeAndRef = errors.New("a version constraint and a ref, tag or digest exclude each other")

// rangeArgument takes the version argument out of the address of a package.
// The other packages keep an argument of that name: it means something to their
// servers.
func rangeArgument(pkg addrs.ModulePackage) (rest addrs.ModulePackage, constraint string, found bool, err error) {
	if !hasTags(pkg) || !pkg.HasArg("version") {
		return pkg, "", false, nil
	}
	values, err := pkg.Args("version")
	switch {
	case err != nil:
		return pkg, "", true, errors.New("the version argument of the address is badly escaped")
	case len(values) > 1:
		return pkg, "", true, errors.New("the address has two version arguments")
	}
	return pkg.Without("version"), values[0], true, nil
}

// hasTags reports whether a package is in a kind of repository whose tags can
// be versions.
func hasTags(pkg addrs.ModulePackage) bool {
	return pkg.Getter() == "git" || pkg.Getter() == "oci"
}

// pinArguments are the arguments that say which content is meant, beside which
// a range makes no sense.
var pinArguments = []string{"ref", "tag", "digest"}

func checkUnpinned(pkg addrs.ModulePackage) error {
	for _, pin := range pinArguments {
		if pkg.HasArg(pin) {
			return fmt.Errorf("%w: take the argument %q out of the address, or the constraint away", ErrRangeAndRef, pin)
		}
	}
	return nil
}

// tagged is the address of a version of a repository.
func tagged(repository addrs.ModulePackage, tag string) addrs.ModulePackage {
	if repository.Getter() == "oci" {
		return repository.WithArg("tag", tag)
	}
	return repository.WithArg("ref", "refs/tags/"+tag)
}

// rangesBeside says which of the calls stock tools refuse because they have a
// version argument beside an address that is not a registry's; "" if there are
// none.
func rangesBeside(nodes []*node) string {
	var places []string
	var constraint string
	for _, n := range nodes {
		if _, remote := n.source.(addrs.ModuleSourceRemote); !remote || !n.call.HasVersion {
			continue
		}
		if len(places) == maxListed {
			places = append(places, "...")
			break
		}
		constraint = orElse(constraint, n.want.String())
		places = append(places, fmt.Sprintf("%s:%d (module %s)", n.call.VersionRange.Filename, n.call.VersionRange.Start.Line, n.path))
	}
	if len(places) == 0 {
		return ""
	}
	return fmt.Sprintf("tofu and terraform refuse a version argument beside a source that is not a registry's: %s; "+
		"they accept it in the address, as in \"?version=%s\"", strings.Join(places, ", "), constraint)
}
