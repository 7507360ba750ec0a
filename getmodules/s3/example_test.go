package s3_test

import (
	"archive/zip"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
)

func ExampleGetter() {
	// The server implements the small part of the S3 protocol that this example needs.
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

	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": new(s3.Getter)}}
	pkg, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("s3::" + server.URL + "/modules/network.zip?aws_access_key_id=id&aws_access_key_secret=secret"),
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
	fmt.Println(strings.ReplaceAll(pkg.Resolved.String(), server.URL, "http://SERVER"))
	// Output:
	// output "name" { value = "network" }
	// s3::http://SERVER/modules/network.zip
}
