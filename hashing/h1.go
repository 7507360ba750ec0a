package hashing

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// H1 returns the h1 hash of the tree, which covers the content of files alone.
func (t *Tree) H1() Hash {
	lines := sha256.New()
	for _, e := range t.Entries {
		if e.isFile() || e.Kind == Link && e.Sum != [32]byte{} {
			fmt.Fprintf(lines, "%x  %s\n", e.Sum, e.Path)
		}
	}
	return encode(schemeH1, lines.Sum(nil))
}

func encode(scheme string, sum []byte) Hash {
	return Hash(scheme + ":" + base64.StdEncoding.EncodeToString(sum))
}
