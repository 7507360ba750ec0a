package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/records"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/spf13/cobra"
)

func doctorCommand(out *output) *cobra.Command {
	return command(out, &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "show what an installation depends on: mirrors, git, credentials, hosts, cache",
		Long: "Shows what decides how an installation works on this machine, without changing anything.\n" +
			"Each registry is asked for the versions of the project's modules and providers, and each\n" +
			"repository for its tags, with the credentials that an installation sends. Secrets are\n" +
			"never shown. The exit status is 1 if there is a problem; notes do not count.",
	}, runDoctor, configFlags(mirrorFlag(),
		toggle("offline", "send no requests"),
	))
}

const (
	levelOK      = "ok"
	levelNote    = "note"
	levelProblem = "problem"
)

// doctor collects what it finds about one subject after another. It states facts: the commands that fail
// because of a problem say what to do about it.
type doctor struct {
	*output
	cmd     *invocation
	req     request
	in      *installer.Installer
	asking  installer.Options // as for an installation
	config  *cliconfig.Config
	fetcher *getmodules.Fetcher
	offline bool

	// needs are those of the configuration, the lock and the mirrors, in the order in which they were found.
	needs       []*need
	gitSettings []getmodules.GitSetting // of the installed git

	subject string
	records []records.Finding
}

func (d *doctor) begin(subject string) { d.subject = subject }

func (d *doctor) ok(format string, args ...any) { d.add(levelOK, format, args...) }

// note adds a fact that may surprise the user.
func (d *doctor) note(format string, args ...any) { d.add(levelNote, format, args...) }

// problem adds a fact that makes an installation fail.
func (d *doctor) problem(format string, args ...any) { d.add(levelProblem, format, args...) }

func (d *doctor) add(level, format string, args ...any) {
	d.records = append(d.records, records.Finding{Subject: d.subject, Level: level, Message: fmt.Sprintf(format, args...)})
}

// failed adds the problems that an error consists of, in text with files as seen from the current directory.
func (d *doctor) failed(err error) {
	for _, m := range advice.Messages(err) {
		if !d.json {
			m.Dir = d.req.Dir
			m = d.Placed(m)
		}
		d.problem("%s", m.Item())
	}
}

func runDoctor(ctx context.Context, cmd *invocation, out *output) error {
	if cmd.NArg() > 1 {
		return usageError{fmt.Errorf("cotter doctor takes one directory, got %d", cmd.NArg())}
	}
	req, err := flagRequest(cmd, out.Env)
	if err != nil {
		return err
	}
	if dir := cmd.Arg(0); dir != "" {
		req.Dir = view.Below(req.Dir, dir)
	}
	if req, err = applySettings(cmd, out.Env, req); err != nil {
		return err
	}
	silent := &output{Run: advice.Run{Env: out.Env}, stdout: io.Discard, stderr: io.Discard, quiet: true}
	in, err := newInstaller(ctx, cmd, silent, req)
	if err != nil {
		return err
	}
	d := &doctor{output: out, cmd: cmd, req: req, offline: cmd.Bool("offline"), in: localInstaller(silent), asking: in.Options()}
	d.fetcher, _ = d.asking.Fetcher.(*getmodules.Fetcher) // newInstaller's
	for _, look := range []func(context.Context){
		d.lookAtProject, d.lookAtMirrors, d.lookAtGit, d.lookAtHosts, d.lookAtCache,
	} {
		look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return d.report()
}

// report prints what was found. Problems are an error.
func (d *doctor) report() error {
	counts := make(map[string]int)
	subject := ""
	for _, f := range d.records {
		counts[f.Level]++
		if d.json {
			if err := d.writeJSON(f); err != nil {
				return err
			}
			continue
		}
		if f.Subject != subject {
			if subject != "" {
				d.printf("\n")
			}
			subject = f.Subject
			d.printf("%s\n", subject)
		}
		label := fmt.Sprintf("%-7s", f.Level)
		switch f.Level {
		case levelNote:
			label = d.paint(yellow, label)
		case levelProblem:
			label = d.paint(red, label)
		}
		fmt.Fprint(d.stdout, "  ", label, "  ", strings.ReplaceAll(view.Indented(f.Message), "\n", "\n         "), "\n")
	}
	notes, problems := counts[levelNote], counts[levelProblem]
	if d.json {
		d.result(records.Doctor{Notes: notes, Problems: problems})
	} else {
		d.printf("\n%s, %s.\n", view.Count(problems, "problem"), view.Count(notes, "note"))
	}
	if problems > 0 {
		return fmt.Errorf("doctor found %s", view.Count(problems, "problem"))
	}
	return nil
}
