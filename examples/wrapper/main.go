// Command wrapper shows how a wrapper around tofu or terraform embeds Cotter: it
// installs the modules of a directory with its own HTTP client, the credentials of
// the stock tools and its own cache, prints what happens, and runs the stock tool,
// which finds every module in place.
//
//	wrapper DIR tofu init
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: wrapper DIR COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string, command []string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	config, diags := cliconfig.OSEnvironment().Load(ctx, cliconfig.Options{})
	if diags.HasErrors() {
		return diags
	}
	in := cotter.New(cotter.Options{
		HTTPClient:  &http.Client{Timeout: 10 * time.Second},
		UserAgent:   "wrapper/1.0",
		Credentials: config,
		Services:    config.Services,
		CacheDir:    filepath.Join(cache, "wrapper"),
		OnEvent:     show,
	})
	in.Fetcher = timed{in.Fetcher}
	if _, err := in.Install(ctx, cotter.Request{Dir: dir}); err != nil {
		return explain(err)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}

// timed is a Fetcher that measures another one. Whatever it does not do itself the
// other one does.
type timed struct{ cotter.Fetcher }

func (t timed) Fetch(ctx context.Context, req getmodules.Request) (*getmodules.Package, error) {
	began := time.Now()
	pkg, err := t.Fetcher.Fetch(ctx, req)
	fmt.Fprintf(os.Stderr, "%s took %s\n", req.Package.Redacted(), time.Since(began).Round(time.Millisecond))
	return pkg, err
}

// show is called for one event after another, so it needs no lock.
func show(event cotter.Event) {
	switch e := event.(type) {
	case cotter.Resolved:
		fmt.Printf("%s is %s %s\n", e.Path, e.Source.ForDisplay(), e.Version)
	case cotter.FetchDone:
		fmt.Printf("fetched %q, %d bytes\n", e.Package, e.Bytes)
	case cotter.Warning:
		fmt.Printf("warning: %q\n", e.Message)
	}
}

// explain tells the failures apart that a wrapper treats in its own way.
func explain(err error) error {
	var mismatch *cotter.HashMismatchError
	if errors.As(err, &mismatch) {
		return fmt.Errorf("do not go on until someone has looked at this: %w", err)
	}
	return err
}
