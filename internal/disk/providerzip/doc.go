// Package providerzip unpacks the zip archives in which providers are distributed, and hashes their content,
// or that of a package that another program has unpacked ([HashDir], [ReadRoot]), with the same limits.
//
// Files are written through package treewriter, which never leaves the target directory, with mode 0755 if
// they are executables of the provider or executable in the archive, and 0644 otherwise. Directories without
// files are not written, because no hash covers them. Names that some systems cannot store are refused where
// this system cannot, and otherwise a warning ([Archive.Warnings]).
package providerzip
