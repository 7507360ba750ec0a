// Package providerzip unpacks the zip archives in which providers are distributed, and
// hashes what is in them.
//
// An archive holds the files of one package. One of them, at the top, is the provider's
// executable: it is named terraform-provider-TYPE, or that followed by "_" or "." and
// anything, such as a version. If there are several, stock tools run the first by name.
//
// # What is refused
//
//   - names that are absolute, have a ".." component or a backslash, and all else that
//     [pathsafe.Name] refuses
//   - two entries of one name, and a file where another entry has a directory
//   - entries that are neither regular files nor directories, such as symbolic links and
//     devices; entries that are encrypted, or compressed by another method than deflate
//   - entries with more or less content than their header says, or a wrong checksum
//   - archives without an executable, with data before their first entry, and those that
//     need the 64-bit extension
//   - archives over the limits: 1 GiB for the archive, 2 GiB for a file, 4 GiB for all
//     files, 10,000 entries, and an expansion of 100:1 above 64 MiB
//
// The first of these errors is found before anything is written, except those of
// content. An error is a *[RefusedError] unless the disk or the context failed.
//
// # What is written
//
// Files are written through package treewriter, which never leaves the directory. They
// have mode 0755 if they are executables of the provider or executable in the archive,
// and 0644 if not. Directories without files are left out, because no hash covers them.
//
// The h1 hash is that of the files as they are written, which [hashing.Dir] confirms.
// Entries for directories do not count.
package providerzip
