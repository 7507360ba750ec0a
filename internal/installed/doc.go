// Package installed compares the packages of a project with the entries of a lock: installed
// packages by [Packages], vendored ones by [Vendored]. [Dirs] knows which of them a project has, and
// where they are.
//
// A package matches its entry if its hashes are those of the entry. Files that were added to an
// installed package since are ignored unless they are configuration, because modules write into
// their own directories. If a package's directory has links into a shared tree (see package
// packagedir), their targets are compared instead. The shared tree as a whole is also compared with
// the entry, because configuration is read there. In a vendored package, added files count, because
// only the author of a commit can have added them, and empty directories are ignored, because git
// does not keep them.
//
// A [Report] names the files that differ if the project has the sums of the locked files. Nothing
// is read twice, and nothing is changed. The caller must find entries without a package, and
// packages without an entry.
package installed
