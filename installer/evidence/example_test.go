package evidence_test

import (
	"fmt"

	"github.com/cotterpin/cotter/installer/evidence"
)

// The zero value confirms nothing. What a mirror has confirmed counts in later runs only while the
// user names that mirror.
func Example() {
	var none evidence.Evidence
	mirror := evidence.Evidence{Kind: evidence.Mirror, By: "the mirror oci://mirror.example.com/modules"}
	fmt.Println(none.IsZero(), none)
	fmt.Println(mirror.IsZero(), mirror)
	// Output:
	// true not confirmed
	// false the mirror oci://mirror.example.com/modules
}
