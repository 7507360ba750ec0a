package hg_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/hg"
)

func ExampleGetter() {
	fetcher := getmodules.Fetcher{
		Getters: map[string]getmodules.Getter{
			// No program can be found in this environment.
			"hg": hg.Getter{Env: []string{"PATH="}},
		},
	}
	_, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("hg::https://someone:secret@hg.example.com/network?rev=v1.2.0"),
		Dir:     filepath.Join(os.TempDir(), "cotter-example-network"),
	})
	fmt.Println(errors.Is(err, hg.ErrNoHg))
	fmt.Println(err)
	// Output:
	// true
	// cannot fetch "hg::https://hg.example.com/network?rev=v1.2.0": no usable hg found; fetching from Mercurial repositories requires Mercurial: none in PATH
}
