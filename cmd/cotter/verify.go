package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v3"

	"github.com/cotterpin/cotter"
)

func verifyCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:  "verify",
		Usage: "compare the installed modules with the lock, without any network",
		Description: "Reads every installed file. Changed and vanished files and added\n" +
			"configuration files are failures; other added files are only named.",
		Flags: projectFlags(),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runVerify(ctx, cmd, out)
		},
	}
}

var errNotVerified = errors.New("the installed modules are not what the lock says; run cotter install to put them right")

func runVerify(ctx context.Context, cmd *cli.Command, out *output) error {
	if err := noArguments(cmd); err != nil {
		return err
	}
	out.configure(cmd)
	req, err := request(cmd, out.env)
	if err != nil {
		return err
	}
	report, err := (&cotter.Installer{}).VerifyRequest(ctx, req)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no lock file to compare with; run cotter install: %w", err)
	}
	if err != nil {
		return err
	}
	if err := out.report(report); err != nil {
		return err
	}
	if !report.OK() {
		return errNotVerified
	}
	return nil
}

// report prints what verify found: a line a package, and its files below it.
func (o *output) report(report *cotter.Report) error {
	if o.json {
		return o.writeJSON(jsonReport(report))
	}
	if report.Unfinished {
		o.printf("An installation was interrupted while it put modules into their places.\n")
	}
	for _, p := range report.Packages {
		o.printf("- %s: %s\n", p.Key, statusText(p))
		for _, group := range changedFiles(p.Changes) {
			for _, file := range group.files {
				o.printf("    %s %q\n", group.label, file)
			}
		}
	}
	if report.OK() {
		o.printf("\n%s verified against the lock.\n", count(len(report.Packages), "package"))
	}
	return nil
}

func statusText(p cotter.PackageReport) string {
	switch {
	case p.Err != nil:
		return "changed: " + p.Err.Error()
	case p.Status == cotter.StatusVerified:
		return "Verified checksum matches lock file"
	case p.Status == cotter.StatusChanged && len(p.Want) > 0:
		return fmt.Sprintf("Module checksum verification failed\n    expected %s\n    got      %s", p.Want[0], p.Got[0])
	case p.Status == cotter.StatusMissing:
		return "not installed"
	}
	return "installed, but the lock has no entry for it"
}
