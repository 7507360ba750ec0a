// Package evidencerules says which evidence is enough for a run (package evidence has the table), and
// what earlier runs of the user keep of it.
package evidencerules
