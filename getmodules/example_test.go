package getmodules_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// serveModule starts a server that answers every request with a zip archive of one module.
func serveModule() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		archive := zip.NewWriter(w)
		file, err := archive.Create("main.tf")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprint(file, `output "name" { value = "network" }`)
		archive.Close()
	}))
}

func ExampleFetcher_Fetch() {
	server := serveModule()
	defer server.Close()
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)

	var fetcher getmodules.Fetcher
	pkg, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage(server.URL + "/network?archive=zip"),
		Dir:     filepath.Join(staging, "network"),
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(staging, "network", "main.tf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	fmt.Println(len(pkg.ArchiveSum), pkg.Warnings)

	// An address that came from a server is refused if it points to local files.
	_, err = fetcher.Fetch(context.Background(), getmodules.Request{
		Package:    addrs.ParseModulePackage("file:///etc"),
		Dir:        filepath.Join(staging, "etc"),
		FromServer: true,
		Origin:     "https://registry.example.com",
	})
	fmt.Println(errors.Is(err, getmodules.ErrRefusedLocation))
	// Output:
	// output "name" { value = "network" }
	// 67 []
	// true
}
