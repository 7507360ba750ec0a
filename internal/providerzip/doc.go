// Package providerzip unpacks the zip archives in which providers are distributed, and hashes
// their content.
//
// An archive has the files of one package. One of the files at the top level is the provider's
// executable. Its name is terraform-provider-TYPE, optionally followed by "_" or "." and anything
// else, such as a version. If there are several, stock tools run the first by name.
//
// # What is refused
//
//   - names that are absolute, have a ".." component or a backslash, or are refused by
//     [pathsafe.Name]
//   - two entries with the same name, and a file in the place of another entry's directory
//   - entries that are neither regular files nor directories, such as symbolic links and devices
//   - entries that are encrypted, or compressed by another method than deflate
//   - entries with more or less content than their header says, or with a wrong checksum
//   - archives without an executable, archives with data before their first entry, and archives
//     that need the 64-bit extension
//   - archives that exceed a limit: 1 GiB for the archive, 2 GiB for a file, 4 GiB for all files,
//     10,000 entries, and an expansion of 100:1 above 64 MiB
//
// All of these errors except those about content are found before anything is written. An error
// is a *[RefusedError] unless the disk or the context failed.
//
// Names that some systems cannot store, such as "con", "a:b", or two names that differ only in
// case, are refused where the system cannot store them. Elsewhere [Archive.Warnings] has one
// message about them, as for module packages.
//
// # What is written
//
// Files are written through package treewriter, which never leaves the target directory. Files
// have mode 0755 if they are executables of the provider or executable in the archive, and 0644
// otherwise. Directories without files are not written, because no hash covers them.
//
// The h1 hash is computed from the files while they are written, and equals the result of
// [hashing.Dir]. It does not cover entries for directories.
//
// # Unpacked packages
//
// [HashDir] and [ReadRoot] hash a package in a directory that another program has written, such as a mirror or
// the plugin cache of stock tools, with the same limits.
package providerzip
