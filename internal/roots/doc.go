// Package roots finds root modules in a directory tree, and those that changed files
// concern, by the local paths by which modules call others.
//
// How a directory's configuration is read is up to the caller: see [Reader].
package roots
