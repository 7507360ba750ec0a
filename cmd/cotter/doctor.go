package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/getmodules"
)

func doctorCommand(out *output) *cli.Command {
	return &cli.Command{
		Name:      "doctor",
		Usage:     "check what an installation depends on: git, credentials, hosts, cache, clock, lock",
		ArgsUsage: "[DIR]",
		Description: "Checks the project, what its configuration needs, and this machine, without changing\n" +
			"anything. Each host that the configuration uses gets one small request. Secrets are\n" +
			"never shown. The exit status is 1 if there is a problem; notes do not count.",
		Flags: configFlags(mirrorFlag(),
			&cli.Flag{Name: "offline", Usage: "send no requests"},
		),
		Run: func(ctx context.Context, cmd *cli.Invocation) error { return runDoctor(ctx, cmd, out) },
	}
}

// level is the severity of a finding.
type level string

const (
	levelOK      level = "ok"
	levelNote    level = "note"
	levelProblem level = "problem"
)

// doctor checks one subject after another, and collects what it finds.
type doctor struct {
	*output
	cmd     *cli.Invocation
	req     cotter.Request
	in      *cotter.Installer
	config  *cliconfig.Config
	fetcher *getmodules.Fetcher
	offline bool

	// needs are the modules and providers that the configuration and the lock need from
	// other places.
	needs []need
	// installedDirs are the directories of the installed modules.
	installedDirs []string
	// git are the settings of the installed git. withoutGitSettings is true if no git is installed.
	git                []getmodules.GitSetting
	withoutGitSettings bool
	// hosts are the hosts of needs and of mirrors, in the order in which they were found.
	hosts []*host
	// plainHTTP are the OCI registries that the user's settings allow to be asked over http.
	plainHTTP []string

	subject string
	records []findingRecord
}

// begin begins a subject. What is found next belongs to it.
func (d *doctor) begin(subject string) { d.subject = subject }

// ok adds a fact that is as it should be.
func (d *doctor) ok(format string, args ...any) { d.add(levelOK, "", format, args...) }

// note adds a fact that may surprise the user; remedy may be "".
func (d *doctor) note(remedy, format string, args ...any) { d.add(levelNote, remedy, format, args...) }

// problem adds a fact that makes an installation fail; remedy may be "".
func (d *doctor) problem(remedy, format string, args ...any) {
	d.add(levelProblem, remedy, format, args...)
}

func (d *doctor) add(l level, remedy, format string, args ...any) {
	d.records = append(d.records, findingRecord{d.subject, string(l), fmt.Sprintf(format, args...), remedy})
}

func runDoctor(ctx context.Context, cmd *cli.Invocation, out *output) error {
	if cmd.NArg() > 1 {
		return usageError{fmt.Errorf("cotter doctor takes one directory, got %d", cmd.NArg())}
	}
	req, err := flagRequest(cmd, out.env)
	if err != nil {
		return err
	}
	if dir := cmd.Arg(0); filepath.IsAbs(dir) {
		req.Dir = dir
	} else if dir != "" {
		req.Dir = filepath.Join(req.Dir, dir)
	}
	if req, err = applySettings(cmd, out.env, req); err != nil {
		return err
	}
	backend, err := gitBackend(out.env)
	if err != nil {
		return err
	}
	d := &doctor{
		output: out, cmd: cmd, req: req, offline: cmd.Bool("offline"),
		in:      &cotter.Installer{CacheDir: cliconfig.OSEnvironment().CacheDir(), StateDir: cliconfig.OSEnvironment().StateDir(), StateKey: out.env("COTTER_STATE_KEY")},
		fetcher: &getmodules.Fetcher{AlwaysGit: out.env("COTTER_ALWAYS_GIT") != "", GitBackend: backend},
	}
	for _, look := range []func(context.Context){
		d.lookAtProject, d.lookAtLock, d.lookAtVendored, d.lookAtMirrors, d.lookAtCalls, d.lookAtGit,
		d.lookAtCredentials, d.lookAtHosts, d.lookAtCache,
	} {
		look(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return d.report()
}

// line returns a message about the project in one line. Text output names files as seen from the
// current directory.
func (d *doctor) line(m message) string {
	if d.json {
		return m.line()
	}
	m.dir = d.req.Dir
	return d.placed(m).line()
}

// projectCommand matches the start of a command for the project.
var projectCommand = lazyRegexp("`cotter (install|lock|verify)")

// remedy returns a remedy whose commands work in the current directory.
func (d *doctor) remedy(text string) string {
	if d.req.Dir == "" || d.req.Dir == "." {
		return text
	}
	return projectCommand().ReplaceAllStringFunc(text, func(command string) string { return command + " --chdir " + shellWord(d.req.Dir) })
}

// report prints what was found. If there are problems, it returns an error with their number.
func (d *doctor) report() error {
	counts := make(map[level]int)
	subject := ""
	for _, f := range d.records {
		counts[level(f.Level)]++
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
		d.printFinding(f)
	}
	if d.json {
		if err := d.writeJSON(doctorRecord{counts[levelProblem] == 0, counts[levelNote], counts[levelProblem]}); err != nil {
			return err
		}
	} else {
		d.printf("\n%s, %s.\n", count(counts[levelProblem], "problem"), count(counts[levelNote], "note"))
		for i, f := range d.records {
			d.records[i].Remedy = d.remedy(f.Remedy)
		}
		if steps := nextSteps(d.records); len(steps) > 0 {
			d.printf("\nNext steps:\n")
			for i, step := range steps {
				d.printf("  %d. %s\n", i+1, step)
			}
		}
	}
	if n := counts[levelProblem]; n > 0 {
		return fmt.Errorf("doctor found %s", count(n, "problem"))
	}
	return nil
}

// maxSteps is the maximum number of next steps.
const maxSteps = 3

// nextSteps returns the most useful remedies: those of problems, then those of notes. Remedies with
// the same command count once, and those that only describe something do not count.
func nextSteps(records []findingRecord) []string {
	var steps, seen []string
	for _, wanted := range []level{levelProblem, levelNote} {
		for _, f := range records {
			isAction := f.Remedy != "" && f.Remedy[0] != '`' && !strings.HasPrefix(f.Remedy, "a ")
			if level(f.Level) != wanted || !isAction {
				continue
			}
			step := f.Remedy
			if parts := strings.Split(step, "`"); len(parts) > 2 && strings.HasPrefix(step, "run ") {
				step = parts[1] // its command
			}
			if !slices.Contains(seen, step) {
				seen = append(seen, step)
				steps = append(steps, f.Remedy+": "+firstLine(f.Message))
			}
		}
	}
	return steps[:min(len(steps), maxSteps)]
}

// firstLine returns the first line of a message, shortened.
func firstLine(message string) string {
	const longest = 80
	line, _, _ := strings.Cut(message, "\n")
	if runes := []rune(line); len(runes) > longest {
		line = string(runes[:longest]) + "..."
	}
	return line
}

func (d *doctor) printFinding(f findingRecord) {
	label := fmt.Sprintf("%-7s", f.Level)
	switch level(f.Level) {
	case levelNote:
		label = d.paint(yellow, label)
	case levelProblem:
		label = d.paint(red, label)
	case levelOK:
	}
	fmt.Fprint(d.stdout, "  ", label, "  ", strings.ReplaceAll(indented(f.Message), "\n", "\n         "), "\n")
	if f.Remedy != "" {
		d.printf("           -> %s\n", d.remedy(f.Remedy))
	}
}
