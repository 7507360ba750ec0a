package getmodules_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

// hello handles addresses of the form hello::https://NAME. It makes no requests and
// returns a module that greets NAME.
type hello struct{}

func (hello) Get(_ context.Context, from getmodules.Download) (getmodules.Downloaded, error) {
	if err := os.Mkdir(from.Path, 0o700); err != nil {
		return getmodules.Downloaded{}, err
	}
	text := fmt.Sprintf("output \"text\" { value = %q }\n", "hello "+from.Location.Host())
	return getmodules.Downloaded{}, os.WriteFile(filepath.Join(from.Path, "main.tf"), []byte(text), 0o600)
}

func ExampleGetter() {
	staging, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(staging)

	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hello": hello{}}}
	pkg, err := fetcher.Fetch(context.Background(), getmodules.Request{
		Package: addrs.ParseModulePackage("hello::https://somebody:secret@world"),
		Dir:     filepath.Join(staging, "hello"),
	})
	if err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(staging, "hello", "main.tf"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pkg.Resolved)
	fmt.Print(string(text))
	// Output:
	// hello::https://world
	// output "text" { value = "hello world" }
}
