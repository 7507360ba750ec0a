package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/mirror"
)

// mirrorScheme is how the addresses of mirrors begin.
const mirrorScheme = "oci://"

func mirrorCommand(out *output) *cli.Command {
	flags := func(more ...cli.Flag) []cli.Flag {
		return configFlags(append(more,
			&cli.StringFlag{Name: "cache-dir", Usage: "keep fetched packages in `DIR`"},
		)...)
	}
	return &cli.Command{
		Name:  "mirror",
		Usage: "keep all locked packages in a repository of an OCI registry",
		Description: "Runs take a locked package from the mirror that --mirror or COTTER_MIRROR names, and\n" +
			"what that does not have from its origin. A mirror is trusted as the origins are: what\n" +
			"it says of an entry is confirmed. Everything is compared with the hashes of the lock.",
		Action: func(_ context.Context, cmd *cli.Command) error { return helpOrUnknown(cmd) },
		Commands: []*cli.Command{
			{
				Name:      "push",
				Usage:     "store all packages of the lock that the mirror does not have",
				ArgsUsage: "[DIR...] oci://HOST/REPOSITORY",
				Flags: flags(severalFlags(append(policyFlags(), gitBackendFlag(),
					&cli.BoolFlag{Name: "submodules", Usage: "fetch the submodules of git repositories too"})...)...),
				Action: func(ctx context.Context, cmd *cli.Command) error { return pushMirror(ctx, cmd, out) },
			},
			{
				Name:      "status",
				Usage:     "list the entries of the lock that the mirror does not have",
				ArgsUsage: "[DIR...] oci://HOST/REPOSITORY",
				Description: "Reads the lock and asks the mirror, and nothing else. The exit status is 1 if\n" +
					"something is missing.",
				Flags:  flags(severalFlags()...),
				Action: func(ctx context.Context, cmd *cli.Command) error { return mirrorStatus(ctx, cmd, out) },
			},
			{
				Name:      "verify",
				Usage:     "fetch and hash all packages of the mirror and compare them with their entries",
				ArgsUsage: "oci://HOST/REPOSITORY",
				Flags:     flags(),
				Action:    func(ctx context.Context, cmd *cli.Command) error { return verifyMirror(ctx, cmd, out) },
			},
		},
	}
}

// mirrorFlag names a mirror to read from.
func mirrorFlag() cli.Flag {
	return &cli.StringFlag{Name: "mirror", Usage: "take locked packages from the mirror `oci://HOST/REPOSITORY` first; the default is COTTER_MIRROR"}
}

// readMirror has an installer read from the mirror of --mirror or COTTER_MIRROR. Only the
// user names one: what a repository says cannot make a registry trusted.
func readMirror(cmd *cli.Command, env func(string) string, in *cotter.Installer, fetcher *getmodules.Fetcher) error {
	address := cmp.Or(cmd.String("mirror"), env("COTTER_MIRROR"))
	if address == "" {
		return nil
	}
	opened, err := mirror.Open(fetcher, address)
	if err != nil {
		return usageError{err}
	}
	in.Stores = append(in.Stores, opened)
	return nil
}

// openMirror returns the mirror that the last argument of a command names, or else
// COTTER_MIRROR.
func openMirror(cmd *cli.Command, env func(string) string, in *cotter.Installer) (*mirror.Mirror, error) {
	address := env("COTTER_MIRROR")
	args := cmd.Args().Slice()
	for i, arg := range args {
		if !strings.HasPrefix(arg, mirrorScheme) {
			continue
		}
		if i < len(args)-1 {
			return nil, usageError{errors.New("the address of the mirror is the last argument")}
		}
		address = arg
	}
	if address == "" {
		return nil, usageError{fmt.Errorf("%s needs the address of a mirror, as in oci://registry.example.com/modules", cmd.FullName())}
	}
	fetcher, ok := in.Fetcher.(*getmodules.Fetcher)
	if !ok {
		return nil, errors.New("the installer has a fetcher of another kind") // should never happen
	}
	opened, err := mirror.Open(fetcher, address)
	if err != nil {
		return nil, usageError{err}
	}
	return opened, nil
}

func pushMirror(ctx context.Context, cmd *cli.Command, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := openMirror(cmd, out.env, in)
	if err != nil {
		return err
	}
	result, err := mirror.Push(ctx, in, dirs, req, out.projectEvent, to)
	if err != nil {
		return err
	}
	if out.json {
		return out.writeJSON(pushedRecord{to.Address(), result.Entries, result.Pushed, result.Bytes})
	}
	out.printf("%s: %s, %d pushed, %s uploaded\n", to.Address(), entries(result.Entries, "module"), result.Pushed, megabytes(result.Bytes))
	return nil
}

// errNotMirrored is the failure of mirror status.
var errNotMirrored = errors.New("the mirror does not have all packages of the lock")

func mirrorStatus(ctx context.Context, cmd *cli.Command, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := openMirror(cmd, out.env, in)
	if err != nil {
		return err
	}
	found, err := mirror.Status(ctx, to, dirs, req)
	if err != nil {
		return err
	}
	missing := 0
	for _, entry := range found {
		if entry.Missing {
			missing++
		}
		if err := out.mirrorEntry(entry); err != nil {
			return err
		}
	}
	if missing > 0 {
		return fmt.Errorf("%w: %d of %s missing", errNotMirrored, missing, entries(len(found), "module"))
	}
	if !out.json {
		out.printf("%s has all of %s.\n", to.Address(), entries(len(found), "module"))
	}
	return nil
}

// mirrorEntry prints what a mirror has for an entry of a lock: as JSON each one, for
// people what is missing.
func (o *output) mirrorEntry(entry mirror.Entry) error {
	if o.json {
		return o.writeProjectJSON(entry.Dir, mirroredRecord{entry.Key, entry.Source, entry.Version, entry.Tag, entry.Missing})
	}
	if entry.Missing {
		o.printf("- %s: %s in %s is missing\n", entry.Dir, entry.Key, strings.TrimSpace(entry.Source+" "+entry.Version))
	}
	return nil
}

func verifyMirror(ctx context.Context, cmd *cli.Command, out *output) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	in, err := installer(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	to, err := openMirror(cmd, out.env, in)
	if err != nil {
		return err
	}
	found, err := in.VerifyStore(ctx, to)
	if err != nil {
		return err
	}
	return out.storeEntries(found, "verified")
}
