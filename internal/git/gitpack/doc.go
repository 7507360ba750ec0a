// Package gitpack reads the objects of one git packfile from a stream, as the
// server sends it, without a git repository. Objects can be used while others
// are still to come, but only the end of the pack says that it was whole.
//
// Every object is inflated once and named anew by the SHA-1 of its content, so
// that whatever is found by a name is what the name stands for. SHA-1 is
// computed with detection of collisions, as git does. The checksum at the end
// of the pack must match, and nothing may follow.
//
// The format is that of gitformat-pack(5), version 2, with object names by
// SHA-1.
//
// What it does not read:
//
//   - deltas whose base comes later in the pack or is not in it ([ErrBase]):
//     servers that were not asked for such packs do not send them
//   - objects of the SHA-256 format
//
// Limits are the caller's ([Limits]); what is over one is an error that wraps
// [ErrTooLarge]. Content beyond [Limits].MemoryBytes is kept in a temporary
// file, so that many packs can be read at once.
package gitpack
