// Package installed compares the packages that are installed in a project with
// the entries of a lock.
//
// A package is what its entry says if its hashes are those of the entry. A file
// that was added since does no harm, as modules write into their own directories,
// unless it is configuration. A package whose directory has links into a shared
// tree, see package materialize, is compared with what these point to, and the
// shared tree as a whole with the entry: configuration is read there.
//
// [Packages.Inspect] names the files that differ if the sums of the locked files are
// kept in the project. Nothing is read twice, and nothing is changed. Entries that
// no package is installed for, and packages without an entry, are for the caller
// to find.
package installed
