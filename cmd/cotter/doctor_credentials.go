package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/s3"
)

// lookAtGit reports which client of git fetches from which host, why, and the settings that affect this.
func (d *doctor) lookAtGit(ctx context.Context) {
	d.begin("Git")
	git, err := d.fetcher.Git.Inspect(ctx)
	switch needed := d.fetcher.AlwaysGit || d.fetcher.GitBackend == getmodules.GitInstalled; {
	case errors.Is(err, getmodules.ErrNoGit) && needed:
		d.problem("%s, but COTTER_ALWAYS_GIT or COTTER_GIT_BACKEND requires it", err)
	case errors.Is(err, getmodules.ErrNoGit):
		d.note("%s; repositories are fetched without it, by https and ssh, and without credential helpers, url.insteadOf and http.extraHeader", err)
	case err != nil:
		d.problem("git's configuration cannot be read: %s", err)
	default:
		d.ok("%s, version %s", git.Path, git.Version)
	}
	for _, h := range d.hosts {
		var ways []string
		for _, pkg := range h.packages {
			if pkg.Getter() == "git" {
				ways = append(ways, d.gitWay(ctx, pkg))
			}
		}
		for _, way := range distinct(ways) {
			d.ok("%s: %s", h.name, way)
		}
	}
	d.git = git.Settings
	for _, s := range git.Settings {
		switch {
		case s.TurnsOffVerification():
			d.note("%s = %s: git accepts any certificate", s.Name, s.Value)
		case s.Value == "":
			d.ok("%s is set (its value is not shown)", s.Name)
		default:
			d.ok("%s = %s", s.Name, s.Value)
		}
	}
}

func (d *doctor) gitWay(ctx context.Context, pkg addrs.ModulePackage) string {
	client, err := d.fetcher.GitClient(ctx, pkg)
	switch {
	case err != nil:
		return "cannot be fetched: " + err.Error()
	case client.InProcess && client.SSH:
		return "fetched in this process, over a connection of your ssh (the installed git only if its server needs it)"
	case client.InProcess && client.Alone:
		return "fetched in this process, over HTTP"
	case client.InProcess:
		return "fetched in this process, over HTTP (the installed git only if that fails)"
	case client.Alone:
		return "cannot be fetched without git: " + client.Reason
	}
	return "fetched by the installed git (" + client.Reason + ")"
}

func (d *doctor) lookAtCredentials(ctx context.Context) {
	d.begin("Credentials")
	for _, h := range d.hosts {
		if h.isRegistry() || h.has("provider mirror") {
			found, err := d.config.TokenPlace(ctx, addrs.Hostname(h.name))
			d.credentials(h, "registry", found, err, "no token: requests are anonymous")
		}
		if h.has("archives") || h.has("git") && strings.HasPrefix(h.scheme, "http") {
			d.httpCredentials(ctx, h)
		}
		if h.has("git") && h.scheme == "ssh" {
			d.sshAgent(h)
		}
		if h.has("s3") {
			d.s3Credentials(ctx, h)
		}
		var repositories []string
		if slices.ContainsFunc(h.packages, addrs.ModulePackage.HoldsCredentials) {
			d.note("%s: a source address contains credentials", h.name)
		}
		for _, pkg := range h.packages {
			if at, err := pkg.Location(); err == nil && pkg.Getter() == "oci" {
				repositories = append(repositories, strings.Trim(at.URL().Path, "/"))
			}
		}
		for _, path := range distinct(repositories) {
			found, err := d.config.OCIPlace(ctx, h.name, path)
			d.credentials(h, "OCI repository "+path, found, err, "none: requests are anonymous")
		}
	}
	if len(d.hosts) == 0 {
		d.ok("no host needs credentials")
	}
}

// credentials reports where credentials were found. none is the text for nowhere.
func (d *doctor) credentials(h *host, what string, found cliconfig.Place, err error, none string) {
	switch {
	case err != nil:
		d.problem("%s, %s: %s", h.name, what, err)
	case found.Kind == "":
		d.ok("%s, %s: %s", h.name, what, none)
	case found.Kind == cliconfig.PlaceHelper:
		d.ok("%s, %s: from the program %s", h.name, what, found.Name)
	default:
		d.ok("%s, %s: from the %s %s", h.name, what, found.Kind, found.Name)
	}
}

// s3Credentials reports what the packages on a server of S3 would be fetched with.
func (d *doctor) s3Credentials(ctx context.Context, h *host) {
	user, err := userSettings(ctx)
	if err != nil {
		return // lookAtMirrors reports the error
	}
	getter := &s3.Getter{MetadataURL: d.env("AWS_METADATA_URL"), Endpoints: user.S3Endpoints}
	var found []string
	for _, pkg := range h.packages {
		if at, err := pkg.Location(); err == nil && pkg.Getter() == "s3" {
			login, err := getter.Login(ctx, at)
			if err != nil {
				login = "none: " + addrs.RedactText(err.Error())
			}
			found = append(found, login)
		}
	}
	for _, login := range distinct(found) {
		d.ok("%s, S3: %s", h.name, login)
	}
}

// httpCredentials reports the credentials for archives and for git over http and https. It only names git's
// credential helpers, which may open windows.
func (d *doctor) httpCredentials(ctx context.Context, h *host) {
	what, none := "archives", "none in netrc: requests are anonymous"
	if h.has("git") {
		what = "git"
		if h.has("archives") {
			what = "git and archives"
		}
		var helpers []string
		for _, s := range d.git {
			at, isHelper := strings.CutSuffix(s.Name, "helper")
			at, isCredential := strings.CutPrefix(at, "credential.")
			u, err := url.Parse(strings.TrimSuffix(at, "."))
			if isHelper && isCredential && err == nil && (at == "" || u.Host == h.name && (u.Scheme == "" || u.Scheme == h.scheme)) {
				helpers = append(helpers, s.Value)
			}
		}
		if len(helpers) > 0 {
			none = "none in netrc; git asks its credential helper (" + strings.Join(helpers, ", ") + ") if the server requires credentials"
		}
	}
	found, err := d.config.HTTPPlace(ctx, &url.URL{Scheme: h.scheme, Host: h.name})
	d.credentials(h, what, found, err, none)
}

func (d *doctor) sshAgent(h *host) {
	switch _, err := os.Stat(d.env("SSH_AUTH_SOCK")); {
	case d.env("SSH_AUTH_SOCK") == "":
		d.ok("%s, git over ssh: the keys of your ssh configuration; there is no agent (SSH_AUTH_SOCK is not set)", h.name)
	case err != nil:
		d.note("%s, git over ssh: SSH_AUTH_SOCK does not point to an agent: %s", h.name, err)
	default:
		d.ok("%s, git over ssh: the agent of SSH_AUTH_SOCK, and the keys of your ssh configuration", h.name)
	}
}
