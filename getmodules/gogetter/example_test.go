package gogetter_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"

	getter "github.com/hashicorp/go-getter/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gogetter"
)

// hello is a getter that a program has written for go-getter/v2. From hello::https://NAME
// it fetches a module that greets NAME.
type hello struct{}

func (hello) Detect(req *getter.Request) (bool, error) { return req.Forced == "hello", nil }

func (hello) Mode(context.Context, *url.URL) (getter.Mode, error) { return getter.ModeDir, nil }

func (hello) GetFile(context.Context, *getter.Request) error { return fmt.Errorf("not a file") }

func (hello) Get(_ context.Context, req *getter.Request) error {
	if err := os.Mkdir(req.Dst, req.Mode(0o755)); err != nil {
		return err
	}
	text := fmt.Sprintf("output \"text\" { value = %q }\n", "hello "+req.URL().Host)
	return os.WriteFile(filepath.Join(req.Dst, "main.tf"), []byte(text), req.Mode(0o644))
}

// This example uses a getter for go-getter/v2 in a Fetcher.
func ExampleV2() {
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)

	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{
		"hello": gogetter.V2{Name: "hello", New: func() getter.Getter { return hello{} }},
	}}
	_, err = fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("hello::https://world"),
		Dir:     filepath.Join(staging, "hello"),
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(staging, "hello", "main.tf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(string(text))
	// Output: output "text" { value = "hello world" }
}

// This example uses a Fetcher in a client of go-getter/v2.
func ExampleGetter() {
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)
	var archive bytes.Buffer
	source := zip.NewWriter(&archive)
	file, err := source.Create("modules/network/main.tf")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := file.Write([]byte("variable \"cidr\" {}\n")); err != nil {
		log.Fatal(err)
	}
	if err := source.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(staging, "source.zip"), archive.Bytes(), 0o600); err != nil {
		log.Fatal(err)
	}

	client := getter.Client{Getters: []getter.Getter{&gogetter.Getter{Fetcher: &getmodules.Fetcher{}}}}
	_, err = client.Get(context.Background(), &getter.Request{
		Src:     "file://" + filepath.ToSlash(filepath.Join(staging, "source.zip")) + "//modules/network",
		Dst:     filepath.Join(staging, "network"),
		GetMode: getter.ModeDir,
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
