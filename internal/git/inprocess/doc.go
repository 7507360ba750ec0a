// Package inprocess fetches from git repositories in this process: [V2] sends its requests by package
// gitwire, over HTTP or over the user's ssh, and reads the pack while it is received. What only git can do is
// a [git.ErrNeedsGit].
//
// [PackStream] inflates each object once and computes its name, with detection of SHA-1 collisions, within
// [PackLimits]. It reads no deltas whose base comes later ([ErrBase]).
package inprocess
