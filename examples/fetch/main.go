// Command fetch fetches the module at an address, such as "hashicorp/consul/aws" or
// "git::https://example.com/net.git//modules/vpc?ref=v1.2.0", into a new directory.
//
//	fetch SOURCE DIR
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
)

func main() {
	var in installer.Installer // without credentials
	if err := fetch(context.Background(), &in, os.Stdout, os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func fetch(ctx context.Context, in *installer.Installer, out io.Writer, source, dir string) error {
	m, err := in.Fetch(ctx, installer.Project{}, config.Call{Source: source}, dir)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, m.Dir, m.Version, m.Package)
	fmt.Fprintln(out, m.Hashes) // of the whole package, as in a lock
	return nil
}
