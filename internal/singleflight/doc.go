// Package singleflight runs each piece of work once: callers that ask for the
// same key at the same time share one run, and later callers get its result.
//
// Unlike golang.org/x/sync/singleflight it respects contexts. A caller whose
// context is cancelled returns at once without affecting the others; the work
// is cancelled when no caller waits for it any more. Errors are not kept: the
// next caller starts the work again.
package singleflight
