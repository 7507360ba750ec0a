// Package procgroup starts other programs away from the terminal and ends them
// together with everything that they started.
//
// It holds what differs between operating systems. On systems without process
// groups, programs that a killed program had started keep running. It also finds
// programs, and edits environments for them, as each system compares the names of
// variables in its own way.
package procgroup
