//go:build !unix

package pathsafe

// Nonblock and NoFollow are 0: this system has no such flags.
const Nonblock, NoFollow = 0, 0
