package workdir

import "crypto/rand"

// randomName is a name that no other process has and nobody can guess.
func randomName() string { return rand.Text() }
