package versions_test

import (
	"fmt"

	"github.com/cotterpin/cotter/versions"
)

func ExampleFromGitTags() {
	tags := []versions.GitTag{
		{Name: "network/v1.2.0", Revision: "7c1f791efd61f326ed6102d564d1a65d1eceedf0"},
		{Name: "network/v1.4.1", Revision: "9ab3c01f791efd61f326ed6102d564d1a65d1ece"},
		{Name: "dns/v3.0.0", Revision: "326ed6102d564d1a65d1eceedf07c1f791efd61f"},
	}
	want, err := versions.ParseConstraints("~> 1.2")
	if err != nil {
		panic(err)
	}
	selected, err := versions.Select(versions.FromGitTags(tags, "modules/network"), want)
	if err != nil {
		panic(err)
	}
	fmt.Println(selected.Version, selected.Ref)
	// Output: 1.4.1 network/v1.4.1
}
