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
)

// lookAtCredentials reports for each host where credentials for it were found.
func (d *doctor) lookAtCredentials(ctx context.Context) {
	d.begin("Credentials")
	for _, h := range d.hosts {
		d.credentialsFor(ctx, h)
	}
	if len(d.hosts) == 0 {
		d.ok("no host needs credentials")
	}
	for _, n := range d.needs {
		if n.registry == "" && n.pkg.HoldsCredentials() {
			d.note("remove them from the configuration: anyone who can read it can read them", "%s: its source address contains credentials", n.key)
		}
	}
}

func (d *doctor) credentialsFor(ctx context.Context, h *host) {
	for _, kind := range h.kinds {
		switch kind {
		case "modules", "providers", "provider mirror":
			if kind != h.kinds[0] && slices.Contains([]string{"modules", "providers", "provider mirror"}, h.kinds[0]) {
				continue // the same token
			}
			found, err := d.config.TokenPlace(ctx, addrs.Hostname(h.name))
			d.credentials(h, "registry", found, err, "no token: requests are anonymous")
		case "archives":
			found, err := d.config.HTTPPlace(ctx, &url.URL{Scheme: h.scheme, Host: h.name})
			d.credentials(h, kind, found, err, "none in netrc: requests are anonymous")
		case "oci":
			for _, path := range h.paths {
				found, err := d.config.OCIPlace(ctx, h.name, path)
				d.credentials(h, "OCI repository "+path, found, err, "none: requests are anonymous")
			}
		case "git":
			d.gitCredentials(ctx, h)
		}
	}
}

// credentials reports where credentials were found. none is the text if there are none.
func (d *doctor) credentials(h *host, what string, found cliconfig.Place, err error, none string) {
	name := found.Name
	if found.Kind == cliconfig.PlaceHelper {
		name = "the program " + name
	}
	switch {
	case err != nil:
		d.problem("", "%s, %s: %s", h.name, what, err)
	case found.Kind == "":
		d.ok("%s, %s: %s", h.name, what, none)
	case found.Kind == cliconfig.PlaceHelper:
		d.ok("%s, %s: from %s", h.name, what, name)
	default:
		d.ok("%s, %s: from the %s %s", h.name, what, found.Kind, name)
	}
}

// gitCredentials reports where git would find credentials. It does not run git's
// credential helpers, because they may open windows.
func (d *doctor) gitCredentials(ctx context.Context, h *host) {
	switch {
	case h.scheme == "ssh" && d.env("SSH_AUTH_SOCK") == "":
		d.ok("%s, git over ssh: the keys of your ssh configuration; there is no agent (SSH_AUTH_SOCK is not set)", h.name)
	case h.scheme == "ssh":
		if _, err := os.Stat(d.env("SSH_AUTH_SOCK")); err != nil {
			d.note("start an agent, or unset the variable", "%s, git over ssh: SSH_AUTH_SOCK does not point to an agent: %s", h.name, err)
			return
		}
		d.ok("%s, git over ssh: the agent of SSH_AUTH_SOCK, and the keys of your ssh configuration", h.name)
	case strings.HasPrefix(h.scheme, "http"):
		d.gitOverHTTP(ctx, h)
	}
}

// gitOverHTTP is gitCredentials for http and https. Over these, git looks for credentials
// only if the server requires them.
func (d *doctor) gitOverHTTP(ctx context.Context, h *host) {
	var helpers []string
	for _, s := range d.git {
		section, key, _ := strings.Cut(s.Name, ".")
		at, isHelper := strings.CutSuffix(key, "helper")
		at = strings.TrimSuffix(at, ".")
		if section == "credential" && isHelper && (at == "" || concerns(at, h)) {
			helpers = append(helpers, s.Value)
		}
	}
	found, err := d.config.HTTPPlace(ctx, &url.URL{Scheme: h.scheme, Host: h.name})
	switch {
	case err != nil || found.Kind != "":
		d.credentials(h, "git", found, err, "")
	case len(helpers) > 0:
		d.ok("%s, git: git asks its credential helper (%s) if the server requires credentials", h.name, strings.Join(helpers, ", "))
	case d.withoutGitSettings:
		d.ok("%s, git: none in netrc: requests are anonymous", h.name)
	default:
		d.ok("%s, git: none; git has no credential helper for this host, and netrc has no entry", h.name)
	}
}

// concerns reports whether git settings that are limited to an address apply to a host.
func concerns(address string, h *host) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host == h.name && (u.Scheme == "" || u.Scheme == h.scheme)
}

// lookAtGit reports which git is installed, and which of its settings affect Cotter.
func (d *doctor) lookAtGit(ctx context.Context) {
	d.begin("Git")
	git, err := d.fetcher.Git.Inspect(ctx)
	if errors.Is(err, getmodules.ErrNoGit) {
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
	d.withoutGitSettings = true
	if d.fetcher.AlwaysGit || d.fetcher.GitBackend == getmodules.GitInstalled {
		d.problem("install git, or do not set COTTER_ALWAYS_GIT or COTTER_GIT_BACKEND", "%s", err)
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

func (d *doctor) gitSetting(s getmodules.GitSetting) {
	text := s.Name
	if s.Value != "" {
		text += " = " + s.Value
	}
	switch {
	case s.TurnsOffVerification():
		d.note("remove it, and set http.sslCAInfo to the certificate authority", "%s: git accepts any certificate", text)
	case s.Value == "":
		d.ok("%s is set (its value is not shown)", text)
	default:
		d.ok("%s", text)
	}
}
