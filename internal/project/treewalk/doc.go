// Package treewalk reads the module tree of a project: [Walker] walks from the root module through all calls, and finds
// the module of each in a way that its caller chooses. [Walker.Installed] finds those that are installed or locked, which
// needs no server. Package installer walks with stages that select, fetch and place packages; package moduletree only
// reads.
//
// A [Call] is a module block with its parsed source, after replacements, and a [Module] is what a call was found to be.
// The package links no client: what an installing program knows of a package is its [Content].
package treewalk
