package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/policy"
)

const mirrorScheme = "oci://"

func mirrorCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "mirror",
		Short: "keep all locked packages in a repository of an OCI registry",
		Long: "Locked packages are taken from the mirror that --mirror, COTTER_MIRROR or a mirror block\n" +
			"in cotter.hcl names. Packages that the mirror lacks are taken from their origins. All\n" +
			"packages are compared with the hashes in the lock. A mirror that you name is trusted\n" +
			"like the origins: anyone who can write to it confirms lock entries. A mirror that only a\n" +
			"repository names is not trusted, unless your own settings trust it.",
	}, nil, nil,
		command(out, &cobra.Command{
			Use:   "push [DIR...] oci://HOST/REPOSITORY",
			Short: "store the locked packages that the mirror does not have",
			Long: "OpenTofu can use the mirror's providers too: set the repository_template of an oci_mirror\n" +
				"to HOST/REPOSITORY/providers/${hostname}/${namespace}/${type}.",
		}, pushMirror, configFlags(severalFlags(append(publishFlags(), policyFlag(), acceptUnreachableFlag(),
			toggle("repair", "read the stored packages back, and replace damaged ones"))...)...)),
		command(out, &cobra.Command{
			Use:   "status [DIR...] oci://HOST/REPOSITORY",
			Short: "list the lock entries that are missing or wrong in the mirror",
			Long: "Reads the lock, and sends requests only to the mirror. The exit status is 1 if an entry\n" +
				"is missing or has other content.",
		}, mirrorStatus, configFlags(severalFlags(carriedFlags()...)...)),
		command(out, &cobra.Command{
			Use:   "verify oci://HOST/REPOSITORY",
			Short: "fetch and hash all packages in the mirror and compare them with their lock entries",
		}, verifyMirror, configFlags()),
	)
}

// mirrorArgument returns the mirror address that is the last argument of a command, or "".
func mirrorArgument(cmd *invocation) (string, error) {
	args := cmd.Args()
	for i, arg := range args {
		switch {
		case !strings.HasPrefix(arg, mirrorScheme):
		case i < len(args)-1:
			return "", usageError{errors.New("the address of the mirror must be the last argument")}
		default:
			return arg, nil
		}
	}
	return "", nil
}

type namedMirror struct {
	*mirror.Mirror
	projects []installer.Project
}

// namedMirrors returns the mirror that the last argument or COTTER_MIRROR names, or else for each project the
// first one that the user's settings name or trust.
func namedMirrors(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, projects []installer.Project) ([]namedMirror, error) {
	named, err := mirrorArgument(cmd)
	if err != nil {
		return nil, err
	}
	none := false
	all := newMirrors(cmd, out, in)
	groups, err := all.byMirror(ctx, projects, named, func(used []policy.UsedMirror) []policy.UsedMirror {
		used = slices.DeleteFunc(used, func(m policy.UsedMirror) bool { return !m.Trusted })
		if none = none || len(used) == 0; none {
			return nil
		}
		first := used[0]
		first.Write, first.WriteRefused = false, false // write modes apply only to installations
		return []policy.UsedMirror{first}
	})
	if err != nil {
		return nil, err
	}
	if none {
		return nil, usageError{fmt.Errorf("%s needs the address of a mirror, as in oci://registry.example.com/modules", cmd.CommandPath())}
	}
	var opened []namedMirror
	for _, g := range groups {
		m, err := all.open(g.UsedMirror)
		if err != nil {
			return nil, err
		}
		opened = append(opened, namedMirror{m, g.projects})
	}
	return opened, nil
}

func pushMirror(ctx context.Context, cmd *invocation, out *output) error {
	push := mirror.Push
	if cmd.Bool("repair") {
		push = mirror.Repair
	}
	pushed := records.Pushed{Mirrors: []records.PushedMirror{}}
	err := forMirrors(ctx, cmd, out, func(in *installer.Installer, m namedMirror, o installer.LockedOptions) error {
		result, err := push(ctx, in, m.projects, o, m.Mirror)
		if err != nil {
			return err
		}
		pushed.Mirrors = append(pushed.Mirrors, records.PushedMirrorOf(m.Mirror, result))
		out.pushed(m.Mirror, result)
		return nil
	})
	if out.json {
		out.result(pushed)
	}
	return err
}

// forMirrors calls run for each mirror of the projects that the command line selects.
func forMirrors(ctx context.Context, cmd *invocation, out *output, run func(*installer.Installer, namedMirror, installer.LockedOptions) error) error {
	in, projects, o, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(projects) == 0 {
		return err
	}
	named, err := namedMirrors(ctx, cmd, out, in, projects)
	if err != nil {
		return err
	}
	return errors.Join(lists.Map(named, func(m namedMirror) error { return run(in, m, o) })...)
}

func (o *output) pushed(to *mirror.Mirror, result *mirror.Result) {
	if o.json {
		return
	}
	replaced := ""
	if result.Replaced > 0 {
		replaced = fmt.Sprintf(", %d replaced", result.Replaced)
	}
	o.printf("%s: %s, %d pushed%s, %s uploaded\n", to.Address(), carriedText(result.Entries, result.Providers), result.Pushed, replaced, megabytes(result.Bytes))
}

var errNotMirrored = errors.New("the mirror does not have all locked packages as required")

func mirrorStatus(ctx context.Context, cmd *invocation, out *output) error {
	status := records.Mirrored{Entries: []records.MirroredEntry{}}
	err := forMirrors(ctx, cmd, out, func(_ *installer.Installer, m namedMirror, o installer.LockedOptions) error {
		found, err := mirror.Status(ctx, m.Mirror, m.projects, o.Scope, o.Platforms...)
		if err != nil {
			return err
		}
		for _, entry := range found {
			status.Entries = append(status.Entries, records.MirroredEntryOf(m.Mirror, entry))
		}
		return out.mirrorStatus(m.Mirror, found)
	})
	if out.json {
		out.result(status)
	}
	return err
}

// mirrorStatus prints what a mirror has for its projects. It fails if anything is missing or wrong.
func (o *output) mirrorStatus(m *mirror.Mirror, found []mirror.Entry) error {
	missing, other, providers := 0, 0, 0
	for _, entry := range found {
		switch {
		case entry.Other:
			other++
		case !entry.OK():
			missing++
		}
		if entry.Key == "" {
			providers++
		}
		o.mirrorEntry(entry)
	}
	var faults []string
	ofAll := " of " + ofCarried(len(found)-providers, providers)
	if missing > 0 {
		faults, ofAll = append(faults, fmt.Sprintf("%d%s missing", missing, ofAll)), ""
	}
	if other > 0 {
		faults = append(faults, fmt.Sprintf("%d%s with other content", other, ofAll))
	}
	if faults != nil {
		return fmt.Errorf("%w: %s", errNotMirrored, strings.Join(faults, ", "))
	}
	if !o.json {
		o.printf("%s has all of %s.\n", m.Address(), carriedText(len(found)-providers, providers))
	}
	return nil
}

// mirrorEntry prints an entry that is missing or wrong.
func (o *output) mirrorEntry(entry mirror.Entry) {
	if o.json {
		return
	}
	source := addrs.Redact(entry.Source)
	what := entry.Key + " in " + strings.TrimSpace(source+" "+entry.Version)
	if entry.Key == "" {
		what = fmt.Sprintf("provider %s %s for %s", source, entry.Version, entry.Platform)
	}
	switch {
	case entry.Missing:
		o.printf("- %s: %s is missing\n", entry.Dir, what)
	case entry.Other:
		o.printf("- %s: %s: %s\n", entry.Dir, what, mirror.ErrOtherPackage)
	}
}

func verifyMirror(ctx context.Context, cmd *invocation, out *output) error {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	in, err := newInstaller(ctx, cmd, out, req)
	if err != nil {
		return err
	}
	to, err := namedMirrors(ctx, cmd, out, in, []installer.Project{req.Project})
	if err != nil {
		return err
	}
	found, err := to[0].Verify(ctx, in)
	if err != nil {
		return err
	}
	return out.storeEntries(found, verified)
}
