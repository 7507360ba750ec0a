package xz_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/xz"
)

func ExampleNewReader() {
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)
	archive, err := filepath.Abs(filepath.Join("testdata", "network.tar.xz"))
	if err != nil {
		log.Fatal(err)
	}

	fetcher := getmodules.Fetcher{XZ: xz.NewReader}
	_, err = fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("file://" + filepath.ToSlash(archive)),
		Dir:     filepath.Join(staging, "network"),
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(staging, "network", "main.tf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output: variable "cidr" {}
}
