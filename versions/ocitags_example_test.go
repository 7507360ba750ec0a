package versions_test

import (
	"context"
	"fmt"

	"github.com/cotterpin/cotter/versions"
)

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
