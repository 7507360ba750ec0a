// Package singleflight runs each piece of work once: callers that ask for the same key at the
// same time share one run, and later callers get its result.
//
// Unlike golang.org/x/sync/singleflight it respects contexts. If a caller's context is canceled,
// the caller returns without affecting the others. The work is canceled when no caller waits for it
// any more, and the last of them returns when it has ended. Errors are not kept: the next caller
// starts the work again.
package singleflight
