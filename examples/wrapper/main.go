// Command wrapper shows how a wrapper around tofu or terraform embeds Cotter. It installs the modules
// of a directory with the user's credentials, prints what happens, and runs the stock tool, which
// finds every module in place.
//
//	wrapper DIR tofu init
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
)

func main() {
	if err := run(context.Background(), http.DefaultClient, os.Stdout, os.Args[1], os.Args[2:]...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, client *http.Client, out io.Writer, dir string, command ...string) error {
	env := cliconfig.OSEnvironment()
	config, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		return err
	}
	in := installer.New(installer.Options{HTTPClient: client, Credentials: config, Services: config.Services,
		Attempts: config.Attempts, CacheDir: env.CacheDir(), StateDir: env.StateDir()})
	show := func(happened installer.Event) { // is never called twice at once
		switch e := happened.(type) {
		case event.FetchDone:
			fmt.Fprintf(out, "fetched %q, %d bytes\n", e.Package, e.Bytes)
		case event.Warning:
			fmt.Fprintf(out, "warning: %q\n", e.Message)
		}
	}
	if _, err := in.Install(ctx, installer.Project{Dir: dir, OnEvent: show}, installer.InstallOptions{}); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, os.Stdin, out, os.Stderr
	return cmd.Run()
}
