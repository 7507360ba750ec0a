package versions_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/versions"
)

func ExampleSelect() {
	var offered []versions.Candidate
	for _, tag := range []string{"v1.0.0", "v1.2.0", "v1.10.0", "v2.0.0-rc1", "v2.0.0"} {
		offered = append(offered, versions.Candidate{Version: versions.MustParse(tag), Ref: tag})
	}

	want, err := versions.ParseConstraints("~> 1.0")
	if err != nil {
		fmt.Println(err)
		return
	}
	selected, err := versions.Select(offered, want)
	fmt.Println(selected.Version, selected.Ref, err)

	want, _ = versions.ParseConstraints(">= 3.0")
	_, err = versions.Select(offered, want)
	var noMatch *versions.NoMatchError
	fmt.Println(errors.As(err, &noMatch))
	fmt.Println(err)
	// Output:
	// 1.10.0 v1.10.0 <nil>
	// true
	// no version meets the constraint ">= 3.0"; offered: 2.0.0, 2.0.0-rc1, 1.10.0, 1.2.0, 1.0.0
}

func ExampleParseConstraints() {
	_, err := versions.ParseConstraints(">= 1.0, < 2.x")
	fmt.Println(err)
	// Output:
	// invalid version constraint "< 2.x" in ">= 1.0, < 2.x": wildcards are not supported; write "~> 1.2.0" for any 1.2 version
}

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

// repository takes the place of a real one, such as a getmodules.OCIRepository.
type repository struct{}

func (repository) Tags(_ context.Context, _ string, page func([]string) error) error {
	return page([]string{"1.2.0", "1.4.1_build.7", "2.0.0", "latest"})
}

func ExampleFromOCITags() {
	offered, err := versions.FromOCITags(context.Background(), repository{})
	if err != nil {
		panic(err)
	}
	want, err := versions.ParseConstraints("~> 1.2")
	if err != nil {
		panic(err)
	}
	selected, err := versions.Select(offered, want)
	if err != nil {
		panic(err)
	}
	fmt.Println(selected.Version, selected.Ref)
	// Output: 1.4.1+build.7 1.4.1_build.7
}
