// Package store is the user's store of packages, which all projects and processes of one user
// share. It has two kinds of content: [Modules] and [Providers]. [UsageOf], [Verify] and [Clean]
// are for both.
//
//	tree/<t1, hex>                     packages of modules
//	stage/<random>/                    a process's staging directory; locked by that process
//	quarantine/<random>                packages that do not have the hash of their name
//	fetch/<sha256 of a key>            locked by the process that fetches this address
//	fetch/<sha256 of a key>.json       the result of the last fetch; sealed
//	confirmed/<code of a record>       evidence for lock entries; see package evidence
//	provider/package/<h1, hex>         unpacked packages of providers; the files are read-only
//	provider/stage/, quarantine/       as for modules
//	provider/fetch/<zh, hex>           locked by the process that downloads this archive
//	provider/memo/<code>               what this user has learned about archives and releases; sealed
//	provider/proof/<code>              the hash of a directory, with the state of its files; sealed
//	provider/project/<code>            what this user has installed in a directory of providers; sealed
//	git/, archive/                     see package getmodules
//
// Directories are created with mode 0700.
//
// # Kinds
//
// What both kinds do in the same way is in packages.go (publish, check, quarantine, remove),
// records.go (sealed files, locks of downloads), stage.go and inuse.go (locks). A kind adds a
// description of its directories (moduleKind in modules.go, providerKind in providers.go), the
// hash of a directory, and what else is recorded about its packages. A third kind would be a third
// such file, a row of the table kinds in cache.go, and its part of [Usage] and [Clean].
//
// # Order of a publication
//
// A package is written in the staging directory of a process, where no other process looks. It is
// hashed, and becomes visible under the name of its hash by a rename. Two processes that publish
// the same package publish identical content, so the first rename wins. The steps are in the
// comments of packages.publish. This package never waits for the disk (fsync): after a crash of the
// system, the hashes are compared again, and damaged packages are found and fetched again.
//
// # Trust
//
// The store can contain anything, because CI systems restore it from elsewhere. A package is
// named after the hash of its content, so it needs no other proof, but its content must be hashed
// before it is used. The existence of a package does not prove its origin, but answers,
// confirmations and memos do. They are trusted only if they have a message authentication code
// made with the user's key (see package userkey): confirmations have a name that only this user
// can compute, all others have sealed content.
//
// A module is hashed whenever it is copied into a project. For a provider that takes long. So when
// this user has hashed a directory, in the store or in a project, the hash is recorded in a proof
// together with the path, size, mode, modification time, change time and inode of each file. As
// long as these are unchanged, the files are not read again. Another user who changes a file cannot
// set its change time back. A proof names the boot of the system during which the files were
// hashed. On systems other than Linux and macOS there are no proofs.
//
// A user who has mapped a file into memory can change it without changing its times. So there are
// proofs only of directories in the store, and of directories in a project that are not reached
// through a link. This user must own everything in them, and no other user may write to the files.
// Other directories, such as mirrors and the plugin cache of stock tools, are read by every run.
//
// A directory that exceeds the limits of providers (see package providerzip) is an error, before a
// file is read. The logical size of a file counts. Hashing stops when the context ends.
//
// # Concurrency
//
// A process holds a shared lock on each package that it uses, from publication or first use until
// Close, and an exclusive lock on its staging directory. Packages are removed only by a process
// that can lock them exclusively. It moves them to its staging directory first, so they vanish at
// once. A staging directory that is not locked belongs to a killed process, and the next process
// removes it. On file systems that cannot lock directories, packages in use can be removed by
// others: what was opened can still be read on most systems, and a package of a module that is gone
// is fetched again. There, a staging directory counts as abandoned after a day.
//
// A process waits for another one only while that one downloads the same package. While it waits
// for the archive of a provider, it holds no other lock on an archive.
//
// # Links to providers
//
// Projects for OpenTofu have links to packages of providers. The paths of projects are recorded when
// packages are installed, while the packages are in use. [Providers.RemoveUnlinked] looks at the
// recorded paths and keeps packages that a link points to. A project that is gone, that was moved
// or copied since its last installation, or that another user has installed is not known. The same
// record tells a later run which packages were installed by this user ([InstallRecord]).
//
// OpenTofu never writes through such a link. Terraform does: if the lock does not have the hash of an
// installed package, it unpacks another one over it. So projects for Terraform get copies
// ([LayoutWritable]). In case Terraform runs in a project with links, the files of providers have
// mode 0444 or 0555, so only root can overwrite them. The directories are writable, so that anyone
// can remove their own cache. Files that are added to a package are found when it is hashed.
package store
