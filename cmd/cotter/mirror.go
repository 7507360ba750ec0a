package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/settings"
)

// mirrorScheme is how the addresses of mirrors begin.
const mirrorScheme = "oci://"

func mirrorCommand(out *output) *cli.Command {
	flags := func(more ...*cli.Flag) []*cli.Flag {
		return configFlags(append(more,
			&cli.Flag{Name: "cache-dir", Type: cli.String, Usage: "keep fetched packages in `DIR`"},
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
		Commands: []*cli.Command{
			{
				Name:      "push",
				Usage:     "store all packages of the lock that the mirror does not have",
				ArgsUsage: "[DIR...] oci://HOST/REPOSITORY",
				Description: "With providers, for OpenTofu's own mirrors of providers too: the repository_template of an\n" +
					"oci_mirror is HOST/REPOSITORY/providers/${hostname}/${namespace}/${type}.",
				Flags: flags(severalFlags(append(slices.Concat(policyFlags(), carriedFlags()), gitBackendFlag(),
					&cli.Flag{Name: "submodules", Usage: "fetch the submodules of git repositories too"},
					&cli.Flag{Name: "sign-key", Type: cli.String, Usage: "sign the entries with the ed25519 key in the PEM `FILE` (PKCS #8)"},
					&cli.Flag{Name: "repair", Usage: "read back what the mirror has, and replace what is damaged"})...)...),
				Run: func(ctx context.Context, cmd *cli.Invocation) error { return pushMirror(ctx, cmd, out) },
			},
			{
				Name:      "status",
				Usage:     "list the entries of the lock that the mirror does not have as it should",
				ArgsUsage: "[DIR...] oci://HOST/REPOSITORY",
				Description: "Reads the lock and asks the mirror, and nothing else. The exit status is 1 if\n" +
					"something is missing, or not signed as --mirror-key or the settings demand.",
				Flags: flags(severalFlags(append(carriedFlags(), mirrorKeyFlag())...)...),
				Run:   func(ctx context.Context, cmd *cli.Invocation) error { return mirrorStatus(ctx, cmd, out) },
			},
			{
				Name:      "verify",
				Usage:     "fetch and hash all packages of the mirror and compare them with their entries",
				ArgsUsage: "oci://HOST/REPOSITORY",
				Flags:     flags(mirrorKeyFlag()),
				Run:       func(ctx context.Context, cmd *cli.Invocation) error { return verifyMirror(ctx, cmd, out) },
			},
		},
	}
}

// mirrorArgument returns the address of a mirror that is the last argument of a command; ""
// means none.
func mirrorArgument(cmd *cli.Invocation) (string, error) {
	args := cmd.Args()
	for i, arg := range args {
		switch {
		case !strings.HasPrefix(arg, mirrorScheme):
		case i < len(args)-1:
			return "", usageError{errors.New("the address of the mirror is the last argument")}
		default:
			return arg, nil
		}
	}
	return "", nil
}

// namedMirror is the mirror of a command, with the projects that it is for.
type namedMirror struct {
	*mirror.Mirror
	dirs []string
}

// namedMirrors returns the mirror that the last argument of a command names, or else
// COTTER_MIRROR, or else for each project the first that the user's settings name or trust.
func namedMirrors(ctx context.Context, cmd *cli.Invocation, out *output, in *cotter.Installer, dirs []string) ([]namedMirror, error) {
	named, err := mirrorArgument(cmd)
	if err != nil {
		return nil, err
	}
	none := false
	all := newMirrors(cmd, out, in)
	groups, err := all.byMirror(ctx, dirs, named, func(used []settings.UsedMirror) []settings.UsedMirror {
		used = slices.DeleteFunc(used, func(m settings.UsedMirror) bool { return !m.Trusted })
		if none = none || len(used) == 0; none {
			return nil
		}
		first := used[0]
		first.Write, first.WriteRefused = false, false // which is about installations
		return []settings.UsedMirror{first}
	})
	if err != nil {
		return nil, err
	}
	if none {
		return nil, usageError{fmt.Errorf("%s needs the address of a mirror, as in oci://registry.example.com/modules", cmd.Command.FullName())}
	}
	var opened []namedMirror
	for _, g := range groups {
		if name := cmd.String("sign-key"); name != "" {
			g.SignKey = name
		}
		m, err := all.open(ctx, g.UsedMirror)
		if err != nil {
			return nil, err
		}
		opened = append(opened, namedMirror{m, g.dirs})
	}
	return opened, nil
}

func pushMirror(ctx context.Context, cmd *cli.Invocation, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := namedMirrors(ctx, cmd, out, in, dirs)
	if err != nil {
		return err
	}
	push := mirror.Push
	if cmd.Bool("repair") {
		push = mirror.Repair
	}
	var errs []error
	for _, m := range to {
		result, err := push(ctx, in, m.dirs, req, out.projectEvent, m.Mirror)
		if err == nil {
			err = out.pushed(m.Mirror, result)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// pushed prints what was pushed to a mirror.
func (o *output) pushed(to *mirror.Mirror, result *mirror.Result) error {
	if o.json {
		return o.writeJSON(pushedRecord{to.Address(), result.Entries, result.Providers, result.Pushed, result.Replaced, result.Bytes})
	}
	replaced := ""
	if result.Replaced > 0 {
		replaced = fmt.Sprintf(", %d replaced", result.Replaced)
	}
	o.printf("%s: %s, %d pushed%s, %s uploaded\n", to.Address(), carriedText(result.Entries, result.Providers), result.Pushed, replaced, megabytes(result.Bytes))
	return nil
}

// errNotMirrored is the failure of mirror status.
var errNotMirrored = errors.New("the mirror does not have all packages of the lock as it should")

func mirrorStatus(ctx context.Context, cmd *cli.Invocation, out *output) error {
	req, in, dirs, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(dirs) == 0 {
		return err
	}
	to, err := namedMirrors(ctx, cmd, out, in, dirs)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range to {
		errs = append(errs, statusOf(ctx, out, m, req))
	}
	return errors.Join(errs...)
}

// statusOf prints what a mirror has for the projects that it is for.
func statusOf(ctx context.Context, out *output, m namedMirror, req cotter.Request) error {
	found, err := mirror.Status(ctx, m.Mirror, m.dirs, req)
	if err != nil {
		return err
	}
	var failed tallyOfStatus
	for _, entry := range found {
		failed.add(entry)
		if err := out.mirrorEntry(entry); err != nil {
			return err
		}
	}
	providers := 0
	for _, entry := range found {
		if entry.Key == "" {
			providers++
		}
	}
	if failed.any() {
		return fmt.Errorf("%w: %s", errNotMirrored, failed.text(ofCarried(len(found)-providers, providers)))
	}
	if !out.json {
		out.printf("%s has all of %s.\n", m.Address(), carriedText(len(found)-providers, providers))
	}
	return nil
}

// tallyOfStatus counts the entries that a mirror does not have as it should.
type tallyOfStatus struct{ missing, other, distrusted int }

func (t *tallyOfStatus) add(e mirror.Entry) {
	switch {
	case e.Missing:
		t.missing++
	case e.Other:
		t.other++
	case e.Distrust != nil:
		t.distrusted++
	}
}

func (t *tallyOfStatus) any() bool { return t.missing+t.other+t.distrusted > 0 }

// text says what is wrong: "2 of 4 module entries missing, 1 not signed as it should be".
func (t *tallyOfStatus) text(all string) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{t.missing, "missing"}, {t.other, "of which the lock has no hash"}, {t.distrusted, "not signed as it should be"}} {
		switch {
		case part.n > 0 && parts == nil:
			parts = append(parts, fmt.Sprintf("%d of %s %s", part.n, all, part.what))
		case part.n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.what))
		}
	}
	return strings.Join(parts, ", ")
}

// mirrorEntry prints what a mirror has for an entry of a lock: as JSON each one, for
// people what is missing or wrong.
func (o *output) mirrorEntry(entry mirror.Entry) error {
	fault := ""
	switch {
	case entry.Missing:
		fault = "is missing"
	case entry.Other:
		fault = mirror.ErrOtherPackage.Error()
	case entry.Distrust != nil:
		fault = entry.Distrust.Error()
	}
	if o.json {
		value := mirroredRecord{Key: entry.Key, Source: entry.Source, Version: entry.Version, Tag: entry.Tag, Missing: entry.Missing}
		if entry.Key == "" {
			value.Platform = entry.Platform.String()
		}
		if !entry.Missing {
			value.Error = fault
		}
		return o.writeProjectJSON(entry.Dir, value)
	}
	what := entry.Key + " in " + strings.TrimSpace(entry.Source+" "+entry.Version)
	if entry.Key == "" {
		what = fmt.Sprintf("provider %s %s for %s", entry.Source, entry.Version, entry.Platform)
	}
	switch {
	case fault == "":
	case entry.Missing:
		o.printf("- %s: %s is missing\n", entry.Dir, what)
	default:
		o.printf("- %s: %s: %s\n", entry.Dir, what, fault)
	}
	return nil
}

func verifyMirror(ctx context.Context, cmd *cli.Invocation, out *output) error {
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	in, err := installer(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	to, err := namedMirrors(ctx, cmd, out, in, []string{req.Dir})
	if err != nil {
		return err
	}
	found, err := in.VerifyStore(ctx, to[0])
	if err != nil {
		return err
	}
	return out.storeEntries(found, "verified")
}
