package getmodules

import (
	"errors"

	"github.com/cotterpin/cotter/addrs"
)

// NormalizePackageAddress returns the package that a source address without a subdirectory
// means, and the subdirectory that the shorthand means, if any.
func NormalizePackageAddress(given string) (packageAddr, subDir string, err error) {
	found, err := addrs.ParseModuleSource(given)
	if err != nil {
		var parse *addrs.ParseError
		if errors.As(err, &parse) && parse.MaybeLocal {
			return "", "", &MaybeRelativePathErr{Addr: given}
		}
		return "", "", err
	}
	remote, ok := found.(addrs.ModuleSourceRemote)
	if !ok {
		return "", "", &MaybeRelativePathErr{Addr: given}
	}
	return remote.Package.String(), remote.Subdir, nil
}
