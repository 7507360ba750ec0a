// Package procgroup starts other programs away from the terminal and ends them
// together with everything that they started.
//
// It holds what differs between operating systems. On systems without process
// groups, programs that a killed program had started keep running.
package procgroup
