// Package installed compares the installed packages of a project with the entries of a lock.
//
// A package matches its entry if its hashes are those of the entry. Files that were added since
// are ignored unless they are configuration, because modules write into their own directories. If
// a package's directory has links into a shared tree (see package packagedir), their targets are
// compared instead. The shared tree as a whole is also compared with the entry, because
// configuration is read there.
//
// [Packages.Inspect] names the files that differ if the project has the sums of the locked files.
// Nothing is read twice, and nothing is changed. The caller must find entries without an
// installed package, and packages without an entry.
package installed
