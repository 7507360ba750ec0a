// Package inprocess fetches from git repositories in this process: [V2] sends its requests by package
// gitwire, over HTTP, over the user's ssh or, without git, over [SSH], and reads the pack while it is
// received. For everything that it does not support, which is an [*Error] of the kind [Unsupported], git
// is used.
//
// [PackStream] inflates each object once and computes its name, with detection of SHA-1 collisions, within
// [PackLimits]; go-git's parser takes 4 to 6 times as long and reports no collisions. It reads no deltas
// whose base comes later ([ErrBase]), and no SHA-256 names: servers send them on request only.
package inprocess
