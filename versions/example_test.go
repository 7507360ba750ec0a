package versions_test

import (
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
