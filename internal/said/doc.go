// Package said makes what other programs and servers say fit to be kept and
// shown: bounded, without secrets, and harmless on a terminal.
package said
