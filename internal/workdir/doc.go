// Package workdir is the modules directory of a project, ".terraform/modules":
// who may change it, and how a change takes effect as a whole or not at all.
//
// Beside the directories that stock tools know (one for each call of a module
// outside the project, named by the call's key, and modules.json) it holds
// ".cotter", which is ours:
//
//	.cotter/lock          held by the process that changes the directory
//	.cotter/stage/        packages on their way in, never read by others
//	.cotter/journal.json  a change that was decided and is not finished
//	.cotter/trash/        directories on their way out
//	.cotter/tree/         whole packages, of which calls reach parts by links
//	.cotter/sums/         the per-file sums of what is installed, by t1 hash
//	.cotter/lock.hcl      a copy of the dependency lock as it was last written
//
// A change goes: stage and verify everything, write the journal, rename the
// staged directories into place, write the lock, write modules.json, remove
// the journal. The journal is the commit point. A crash before it changes
// nothing; a crash after it is finished by the next process that opens the
// directory, which does the same steps again: each step is harmless when it
// was done already.
//
// The package knows nothing of modules, versions or hashes, and reads nothing
// inside the packages that it moves.
package workdir
