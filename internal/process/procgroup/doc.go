// Package procgroup starts other programs without access to the terminal, and ends them together
// with all processes that they have started. On systems without process groups, the processes that a
// killed program has started keep running. The package also finds programs and edits environments.
package procgroup
