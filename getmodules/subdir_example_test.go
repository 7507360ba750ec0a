package getmodules_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cotterpin/cotter/getmodules"
)

func ExampleFindSubdir() {
	dir, err := os.MkdirTemp("", "package")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"net-3f2a91c/modules/vpc", "net-3f2a91c/modules/dns"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.FromSlash(name)), 0o755); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, subdir := range []string{"*/modules/vpc", "*/modules/*", "net-3f2a91c", "", "other"} {
		found, err := getmodules.FindSubdir(dir, subdir)
		fmt.Printf("%q %t\n", found, err != nil)
	}
	// Output:
	// "net-3f2a91c/modules/vpc" false
	// "" true
	// "net-3f2a91c" false
	// "" false
	// "" true
}
