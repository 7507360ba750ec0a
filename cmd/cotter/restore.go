package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
)

func restoreCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "restore",
		Usage: "restore module and provider entries that the lock has lost",
		Description: "Takes the entries from the copy of the lock that the last installation kept in\n" +
			".terraform, or otherwise from the last git commit. If the lock has no module entries at\n" +
			"all, they are taken from the newest commit whose lock has them. Nothing else is changed.",
		Flags: projectFlags(),
		Run: func(ctx context.Context, cmd *cli.Invocation) error {
			req, err := request(cmd, out.env)
			if err != nil {
				return err
			}
			restored, err := localInstaller(cmd, out).Restore(ctx, req, nil)
			if err != nil {
				return err
			}
			if out.json {
				return out.writeJSON(jsonRestored(restored))
			}
			out.printf("Restored %s from %s.\n", entriesOf(restored), restored.From)
			return nil
		},
	}
}

// entriesOf returns the numbers of restored entries as text.
func entriesOf(restored *cotter.Restored) string {
	var parts []string
	if n := len(restored.Modules); n > 0 {
		parts = append(parts, entries(n, "module"))
	}
	if n := len(restored.Providers); n > 0 {
		parts = append(parts, entries(n, "provider"))
	}
	return strings.Join(parts, " and ")
}

func entries(n int, of string) string {
	if n == 1 {
		return "1 " + of + " entry"
	}
	return fmt.Sprintf("%d %s entries", n, of)
}

// keysOf returns the keys of modules, which are never nil.
func keysOf(modules []addrs.Module) []string {
	keys := []string{}
	for _, m := range modules {
		keys = append(keys, m.String())
	}
	return keys
}

func jsonRestored(restored *cotter.Restored) record {
	providers := []string{}
	for _, p := range restored.Providers {
		providers = append(providers, p.String())
	}
	return restoredRecord{restored.From, "", keysOf(restored.Modules), providers}
}
