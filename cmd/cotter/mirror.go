package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/settings"
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
		Description: "Runs take a locked package from the mirror that --mirror or COTTER_MIRROR names, or a\n" +
			"mirror block in cotter.hcl, and what that does not have from its origin. Everything is\n" +
			"compared with the hashes of the lock. A mirror that you name is trusted as the origins\n" +
			"are: what it says of an entry is confirmed. One that only a repository names is not,\n" +
			"unless your own settings trust it or the key that has signed an entry.",
		Action: func(_ context.Context, cmd *cli.Command) error { return helpOrUnknown(cmd) },
		Commands: []*cli.Command{
			{
				Name:      "push",
				Usage:     "store all packages of the lock that the mirror does not have",
				ArgsUsage: "[DIR...] oci://HOST/REPOSITORY",
				Flags: flags(severalFlags(append(policyFlags(), gitBackendFlag(),
					&cli.BoolFlag{Name: "submodules", Usage: "fetch the submodules of git repositories too"},
					&cli.StringFlag{Name: "sign-key", Usage: "sign the entries with the ed25519 key in the PEM `FILE` (PKCS #8)"},
					&cli.BoolFlag{Name: "repair", Usage: "read back what the mirror has, and replace what is damaged"})...)...),
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
				Flags:     flags(mirrorKeyFlag()),
				Action:    func(ctx context.Context, cmd *cli.Command) error { return verifyMirror(ctx, cmd, out) },
			},
		},
	}
}

// openMirror returns the mirror that the last argument of a command names, or else
// COTTER_MIRROR, or else the first that the user's settings name or trust.
func openMirror(ctx context.Context, cmd *cli.Command, env func(string) string, req cotter.Request, in *cotter.Installer) (*mirror.Mirror, error) {
	named := ""
	args := cmd.Args().Slice()
	for i, arg := range args {
		if !strings.HasPrefix(arg, mirrorScheme) {
			continue
		}
		if i < len(args)-1 {
			return nil, usageError{errors.New("the address of the mirror is the last argument")}
		}
		named = arg
	}
	used, err := usedMirrors(ctx, cmd, env, req.Dir, named)
	if err != nil {
		return nil, err
	}
	used = slices.DeleteFunc(used, func(m settings.UsedMirror) bool { return !m.Trusted })
	if len(used) == 0 {
		return nil, usageError{fmt.Errorf("%s needs the address of a mirror, as in oci://registry.example.com/modules", cmd.FullName())}
	}
	fetcher, err := fetcherOf(in)
	if err != nil {
		return nil, err
	}
	if name := cmd.String("sign-key"); name != "" {
		used[0].SignKey = name
	}
	return openUsed(ctx, fetcher, used[0])
}

func pushMirror(ctx context.Context, cmd *cli.Command, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := openMirror(ctx, cmd, out.env, req, in)
	if err != nil {
		return err
	}
	push := mirror.Push
	if cmd.Bool("repair") {
		push = mirror.Repair
	}
	result, err := push(ctx, in, dirs, req, out.projectEvent, to)
	if err != nil {
		return err
	}
	return out.pushed(to, result)
}

// pushed prints what was pushed to a mirror.
func (o *output) pushed(to *mirror.Mirror, result *mirror.Result) error {
	if o.json {
		return o.writeJSON(pushedRecord{to.Address(), result.Entries, result.Pushed, result.Replaced, result.Bytes})
	}
	replaced := ""
	if result.Replaced > 0 {
		replaced = fmt.Sprintf(", %d replaced", result.Replaced)
	}
	o.printf("%s: %s, %d pushed%s, %s uploaded\n", to.Address(), entries(result.Entries, "module"), result.Pushed, replaced, megabytes(result.Bytes))
	return nil
}

// errNotMirrored is the failure of mirror status.
var errNotMirrored = errors.New("the mirror does not have all packages of the lock")

func mirrorStatus(ctx context.Context, cmd *cli.Command, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := openMirror(ctx, cmd, out.env, req, in)
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
	to, err := openMirror(ctx, cmd, out.env, req, in)
	if err != nil {
		return err
	}
	found, err := in.VerifyStore(ctx, to)
	if err != nil {
		return err
	}
	return out.storeEntries(found, "verified")
}
