// Package dirstore shares directories between processes. Packages pkgcache and
// providerstore keep their packages with it, each package in a directory that is named by
// the hash of its content.
//
// A directory is written on the [Stage] of a process, where no other process looks, and
// becomes visible under its name by a rename. A process that uses a published directory
// holds a shared lock on it (see [InUse]), and another process removes only directories
// that it can lock exclusively. It moves them to its stage first, so they vanish at once.
//
// A stage is locked while its process lives. A process that starts removes the stages of
// processes that were killed.
//
// On file systems without locks, directories in use can be removed by others: what was
// opened can still be read on most systems, and a stage counts as abandoned after a day.
//
// The package does not look into directories, and does not know hashes.
package dirstore
