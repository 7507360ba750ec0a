// Package project is the state of one project on disk: the modules directory (".terraform/modules"),
// the dependency lock, and the files that Cotter keeps between runs. It lets only one process at a time
// change them, makes each change atomic, and decides which files of an earlier run can be trusted.
//
// The package knows nothing about module calls, versions or hashes, and does not read the packages
// that it moves. Package lockfile parses and writes the lock; [Manifest] is modules.json.
package project

// These are the states that a killed run can leave. [Project.Commit] has the steps. Stock tools find
// modules only through modules.json, so they never see a mixture.
//
//	state                          next Open          View (verify)      stock tools see
//	no journal                     -                  -                  what is installed
//	journal, no proof              removes it         ignores it         what is installed
//	journal, before step 3         undoes             Unfinished         the old tree
//	journal, steps 3 to 6          undoes             Unfinished         no modules
//	journal, after step 7          removes it         complete           the new tree
//	journal, and modules.json of   abandons the       Unfinished         what that program installed
//	another program                change, moves
//	                               nothing
//
// Undoing a change moves everything back, including the lock if it still has the bytes that the change
// wrote. An interrupted undo is repeated by the next Open.
