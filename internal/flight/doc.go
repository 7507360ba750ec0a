// Package flight does each piece of work once: callers that want the same key
// at the same time share one run, and later callers get the value that it gave.
//
// Unlike golang.org/x/sync/singleflight it heeds contexts. A caller that is
// cancelled returns at once and does no harm to the others; the work itself is
// cancelled only when nobody waits for it any more. Failures are not kept: the
// next caller tries again.
package flight
