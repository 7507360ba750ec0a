package main

import (
	"context"
	"errors"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// lookAtGit reports which git is installed, and which of its settings affect Cotter.
func (d *doctor) lookAtGit(ctx context.Context) {
	d.begin("Git")
	git, err := d.fetcher.Git.Inspect(ctx)
	if errors.Is(err, gitexec.ErrNoGit) {
		d.withoutGit(err)
		return
	}
	if err != nil {
		d.problem("run `git config --list`", "git's configuration cannot be read: %s", err)
	}
	d.ok("%s, version %s", git.Path, git.Version)
	d.chosenBackend()
	d.git = git.Settings
	for _, s := range git.Settings {
		d.gitSetting(s)
	}
}

func (d *doctor) withoutGit(err error) {
	if d.fetcher.AlwaysGit || d.fetcher.GitBackend == getmodules.GitInstalled {
		d.problem("install git, or do not set COTTER_ALWAYS_GIT, COTTER_GIT_BACKEND or --git-backend", "%s", err)
		return
	}
	d.note("install git if you need credential helpers, url.insteadOf or http.extraHeader", "%s; the built-in client is used instead", err)
}

// chosenBackend reports which git backend a flag or the environment selects.
func (d *doctor) chosenBackend() {
	switch {
	case d.fetcher.AlwaysGit:
		d.note("", "COTTER_ALWAYS_GIT is set: git fetches all repositories")
	case d.fetcher.GitBackend != getmodules.GitAuto:
		d.note("", "the git backend is set to %q by a flag or COTTER_GIT_BACKEND", string(d.fetcher.GitBackend))
	}
}

func (d *doctor) gitSetting(s gitexec.Setting) {
	text := s.Name
	if s.Value != "" {
		text += " = " + s.Value
	}
	switch {
	case s.TurnsOffVerification():
		d.note("remove it, and name the authority in http.sslCAInfo", "%s: git accepts any certificate", text)
	case s.Value == "":
		d.ok("%s is set (its value is not shown)", text)
	default:
		d.ok("%s", text)
	}
}
