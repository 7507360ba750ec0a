package gcs_test

import (
	"archive/zip"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
)

func ExampleGetter() {
	// The server implements the small part of the JSON API that this example needs.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		archive := zip.NewWriter(w)
		if file, err := archive.Create("main.tf"); err == nil {
			fmt.Fprint(file, `output "name" { value = "network" }`)
		}
		archive.Close()
	}))
	defer server.Close()
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)

	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{
		"gcs": &gcs.Getter{Endpoint: server.URL}, // without Endpoint, requests go to Google
	}}
	pkg, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("gcs::https://www.googleapis.com/storage/v1/modules/network.zip"),
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
	fmt.Println(pkg.Resolved)
	// Output:
	// output "name" { value = "network" }
	// gcs::https://www.googleapis.com/storage/v1/modules/network.zip
}
