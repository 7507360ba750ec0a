package evidence_test

import (
	"fmt"

	"github.com/cotterpin/cotter/evidence"
)

// What a mirror has confirmed is enough for an installation, and counts in later runs only while
// the user names that mirror. A package that the project has brought may not be published.
func Example() {
	mirror := evidence.Evidence{Kind: evidence.Mirror, By: "the mirror oci://mirror.example.com/modules"}
	project := evidence.Evidence{Kind: evidence.Project}
	fmt.Println(mirror, evidence.For(evidence.Locked).Accepts(mirror))
	fmt.Println(project, evidence.For(evidence.Publish).AcceptsProvider(project))
	// Output:
	// the mirror oci://mirror.example.com/modules true
	// from this repository, unsigned false
}
