// Command unit shows how a tool that has one source a unit, and no configuration around it, as
// Terragrunt does, locks that source: it gets the module of a unit, and records it in the unit's lock.
// The next run gets the same bytes, or fails.
//
//	unit DIR SOURCE [CONSTRAINT]
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
)

func main() {
	dir, err := lock(context.Background(), http.DefaultClient, os.Args[1], os.Args[2], os.Args[3:]...)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(dir)
}

// lock returns the directory of the source's module.
func lock(ctx context.Context, client *http.Client, unit, source string, constraint ...string) (dir string, err error) {
	env := cliconfig.OSEnvironment()
	user, err := env.Load(ctx, cliconfig.Options{})
	if err != nil {
		return "", err
	}
	in := installer.New(installer.Options{HTTPClient: client, Credentials: user, Services: user.Services, CacheDir: env.CacheDir(), StateDir: env.StateDir()})
	session, err := in.Begin(ctx, installer.Project{Dir: unit}, installer.InstallOptions{})
	if err != nil {
		return "", err
	}
	defer session.Close()
	call := config.Call{Name: "unit", Source: source}
	if len(constraint) > 0 {
		call.Version = &constraint[0]
	}
	module, err := session.Module(ctx, nil, call)
	if err != nil {
		return "", err
	}
	_, err = session.Commit(ctx, installer.CommitOptions{Complete: true})
	return module.Dir, err
}
