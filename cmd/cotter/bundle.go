package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/ocistore"
)

func bundleCommand(out *output) *cobra.Command {
	jsonFlag := toggle("json", "print JSON")
	return command(out, &cobra.Command{
		Use:   "bundle",
		Short: "carry all locked packages in one file to machines without a network",
	}, nil, nil,
		command(out, &cobra.Command{
			Use:   "create [DIR...]",
			Short: "write all locked packages to a file",
			Long: "Writes the modules and providers in the lock of the current directory, or of each DIR,\n" +
				"to a tar file with an OCI image layout, which oras and skopeo can read. The same lock\n" +
				"always gives the same bytes. The lock must be complete. Provider archives are\n" +
				"downloaded, because the cache does not keep them.",
		}, createBundle, configFlags(severalFlags(append(publishFlags(), policyFlag(),
			text("out", "write to `FILE`"),
			toggle("offline", "send no requests: use only what is installed or cached"),
			acceptUnreachableFlag(),
		)...)...)),
		command(out, &cobra.Command{
			Use:   "verify FILE",
			Short: "hash all packages in a bundle and compare them with their lock entries",
		}, readBundle(verified, (*bundle.Bundle).Verify), []addFlag{jsonFlag}),
		command(out, &cobra.Command{
			Use:   "import FILE",
			Short: "add all packages in a bundle to the cache",
			Long: "Later runs by this user install the locked packages in the bundle without asking their\n" +
				"origins. Import only bundles from people you trust to say what a source contains.",
		}, readBundle("imported", (*bundle.Bundle).Import), []addFlag{jsonFlag}),
	)
}

// createBundle replaces an earlier file when the bundle is complete.
func createBundle(ctx context.Context, cmd *invocation, out *output) (err error) {
	name := cmd.String("out")
	if name == "" {
		return usageError{errors.New("bundle create needs --out FILE")}
	}
	in, projects, o, err := lockedProjects(ctx, cmd, out)
	if err != nil || len(projects) == 0 {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".cotter-bundle-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	written, err := bundle.Create(ctx, in, projects, o, file)
	if err := errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), name); err != nil {
		return err
	}
	if out.json {
		out.result(records.Bundled{File: name, Entries: written.Entries, Packages: written.Packages, Providers: written.Providers, Bytes: written.Bytes})
		return nil
	}
	content := view.Both(written.Entries, view.Count(written.Packages, "package")+" of "+entries(written.Entries, "module"), written.Providers, view.Count(written.Providers, "package")+" of providers")
	out.printf("%s: %s, %s\n", name, content, megabytes(written.Bytes))
	return nil
}

// carriedFlags select the provider packages for a bundle or a mirror.
func carriedFlags() []addFlag {
	return []addFlag{
		onlyFlag("take only `WHAT`: modules or providers"),
		texts("platform", "take the providers' packages for `OS_ARCH`; can be repeated; the default is this machine's platform"),
	}
}

// publishFlags are for commands that copy locked packages to a bundle or a mirror.
func publishFlags() []addFlag {
	return append(carriedFlags(),
		toggle("project-providers", "include providers that only the repository itself has, for example in terraform.d/plugins; others will trust them"))
}

// carried reads carriedFlags and publishFlags. The platforms in settings are for the lock, and do not
// select the packages to copy.
func carried(cmd *invocation) (o installer.LockedOptions, err error) {
	o = installer.LockedOptions{Offline: cmd.Bool("offline"), AllowProject: cmd.Bool("project-providers"), AcceptUnreachable: modulePaths(cmd.Strings("accept-unreachable"))}
	if o.Platforms, err = platforms(cmd); err != nil {
		return o, err
	}
	o.Scope, err = scope(cmd)
	switch {
	case err != nil || o.Scope != installer.ScopeModules:
	case len(o.Platforms) > 0:
		err = usageError{errors.New("--platform and --only modules cannot be used together")}
	case o.AllowProject:
		err = usageError{errors.New("--project-providers and --only modules cannot be used together")}
	}
	return o, err
}

// lockedProjects returns an installer, the projects, and which of their packages a bundle or a mirror gets.
func lockedProjects(ctx context.Context, cmd *invocation, out *output) (in *installer.Installer, projects []installer.Project, o installer.LockedOptions, err error) {
	req, err := newRequest(cmd, out.Env)
	if err != nil {
		return nil, nil, o, err
	}
	if o, err = carried(cmd); err != nil {
		return nil, nil, o, err
	}
	if in, err = newInstaller(ctx, cmd, out, req); err != nil {
		return nil, nil, o, err
	}
	dirs, err := projectDirs(ctx, cmd, out, req)
	if err != nil {
		return nil, nil, o, err
	}
	mirrors := newMirrors(cmd, out, in)
	projects, failures := projectsIn(cmd, out.Env, req, dirs, func(req request) (request, error) {
		req, err := inProject(ctx, in, req)
		if err != nil {
			return req, err
		}
		return mirrors.inRequest(ctx, req)
	})
	for i, dir := range dirs {
		projects[i].OnEvent = func(event installer.Event) { out.projectEvent(dir, event) }
	}
	return telling(in, out), projects, o, errors.Join(failures...)
}

const verified = "verified"

// readBundle prints what read finds in the bundle that the command line names. done is "verified" or
// "imported".
func readBundle(done string, read func(*bundle.Bundle, context.Context, *installer.Installer) ([]ocistore.Entry, error)) func(context.Context, *invocation, *output) error {
	return func(ctx context.Context, cmd *invocation, out *output) (err error) {
		if cmd.NArg() != 1 {
			return usageError{fmt.Errorf("%s takes one file", cmd.CommandPath())}
		}
		opened, err := bundle.Open(cmd.Arg(0))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		found, err := read(opened, ctx, localInstaller(out))
		if err != nil {
			return err
		}
		return out.storeEntries(found, done)
	}
}

// storeEntries prints the entries of a bundle or a mirror. It fails if any of them has an error.
func (o *output) storeEntries(found []ocistore.Entry, done string) error {
	if o.json {
		o.result(records.Stored{Entries: lists.Map(found, records.StoredEntryOf)})
	}
	damaged, providers := 0, 0
	for _, entry := range found {
		o.bundleEntry(entry)
		if entry.Err != nil {
			damaged++
		}
		if entry.Platform != (addrs.Platform{}) {
			providers++
		}
	}
	if len(found) == 0 && done == verified {
		return errors.New("nothing was verified: there are no packages")
	}
	if damaged > 0 {
		return fmt.Errorf("%d of %s could not be %s", damaged, ofCarried(len(found)-providers, providers), done)
	}
	if !o.json {
		o.printf("%s %s.\n", carriedText(len(found)-providers, providers), done)
	}
	return nil
}

func carriedText(modules, providers int) string {
	return view.Both(modules, entries(modules, "module"), providers, view.Count(providers, "package")+" of providers")
}

// ofCarried returns the numbers like carriedText, for use after "1 of".
func ofCarried(modules, providers int) string {
	if modules == 0 || providers == 0 {
		return carriedText(modules, providers)
	}
	return fmt.Sprintf("%d packages of modules and providers", modules+providers)
}

func (o *output) bundleEntry(entry ocistore.Entry) {
	if o.json {
		return
	}
	what := addrs.Redact(entry.Source)
	if entry.Version != "" {
		what += " " + entry.Version
	}
	if entry.Platform != (addrs.Platform{}) {
		what = "provider " + what + " for " + entry.Platform.String()
	}
	if what == "" {
		what = entry.Tag
	}
	if entry.Err != nil {
		o.printf("- %s: %s\n", what, view.Indented(entry.Err.Error()))
		return
	}
	o.printf("- %s\n", what)
}

// addBundle adds the bundle that --bundle names to the stores of a request. The file stays open until the
// process ends.
func addBundle(cmd *invocation, req *request) error {
	name := cmd.String("bundle")
	if name == "" {
		return nil
	}
	opened, err := bundle.Open(name)
	if err != nil {
		return err
	}
	req.Stores = append(req.Stores, opened)
	return nil
}
