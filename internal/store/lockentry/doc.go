// Package lockentry says what an entry of a lock states, how entries differ, and on which [Ladder]
// the package of an entry is found. Package evidence says who can confirm the statements.
package lockentry
