package testenv

import "github.com/cotterpin/cotter/addrs"

// Source panics if the address is not valid.
func Source(text string) addrs.ModuleSource {
	source, err := addrs.ParseModuleSource(text)
	if err != nil {
		panic(err)
	}
	return source
}

// Package returns an address of a package as a lock has it. It accepts every text.
func Package(text string) addrs.ModuleSourceRemote {
	address, subdir := addrs.SplitSubdir(text)
	return addrs.ModuleSourceRemote{Package: addrs.ParseModulePackage(address), Subdir: subdir}
}
