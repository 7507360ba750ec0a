// Package roots finds root modules in a directory tree, and finds the root modules that changed
// files affect. It follows the local paths by which modules call other modules.
//
// The caller decides how a directory's configuration is read: see [Reader].
package roots
