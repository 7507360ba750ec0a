// Package gitpack reads the objects of a git packfile from a stream, as a server sends it,
// without a git repository. Objects can be used while others are still being received, but only
// the end of the pack shows that it was complete.
//
// Each object is inflated once, and its name is computed from its content by SHA-1. An object
// that is found by a name therefore always has the content for that name. Like git, the package
// uses SHA-1 with collision detection. The checksum at the end of the pack must match, and no
// data may follow it.
//
// The format is version 2 of gitformat-pack(5), with SHA-1 object names.
//
// The package does not read:
//
//   - deltas whose base comes later in the pack, or is not in the pack ([ErrBase]): servers
//     only send such packs on request
//   - objects with SHA-256 names
//
// The caller sets [Limits]. Exceeding a limit is an error that wraps [ErrTooLarge]. Content
// beyond [Limits].MemoryBytes is kept in a temporary file, so that many packs can be read
// concurrently.
package gitpack
