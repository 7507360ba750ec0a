package cliconfig_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
)

const (
	host   = addrs.Hostname("reg.example.com")
	canary = "canary-4711"
)

// home writes files into a new home directory.
func home(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), text, 0o600)
	}
	return dir
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// script writes a program in which "$LOG" is the name of a file for its log, and
// returns that name.
func script(t *testing.T, name, text string) (log string) {
	t.Helper()
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("/bin/sh is not installed")
	}
	log = name + ".log"
	// A process that is forked while the file is open for writing has it open too
	// for a moment, and an open file cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	write(t, name, "#!/bin/sh\nLOG='"+log+"'\n"+text, 0o700)
	return log
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

func load(t *testing.T, env cliconfig.Environment) *cliconfig.Config {
	t.Helper()
	return loadWith(t, env, cliconfig.Options{})
}

func loadWith(t *testing.T, env cliconfig.Environment, opts cliconfig.Options) *cliconfig.Config {
	t.Helper()
	config, diags := loadAll(t.Context(), env, opts)
	if len(diags) > 0 {
		t.Fatalf("Load: %v", diags)
	}
	return config
}

// loadAll loads a configuration. It returns the warnings and the faults as diagnostics.
func loadAll(ctx context.Context, env cliconfig.Environment, opts cliconfig.Options) (*cliconfig.Config, hcl.Diagnostics) {
	var all, faults hcl.Diagnostics
	warn := opts.Warn
	loading := true
	opts.Warn = func(text string) {
		if loading {
			all = append(all, &hcl.Diagnostic{Severity: hcl.DiagWarning, Detail: text})
		} else if warn != nil {
			warn(text)
		}
	}
	config, err := env.Load(ctx, opts)
	loading = false
	errors.As(err, &faults)
	return config, append(all, faults...)
}

// tokenFor returns the token for a host, or an empty string if the host has no
// token.
func tokenFor(t *testing.T, config *cliconfig.Config, host addrs.Hostname) string {
	t.Helper()
	token, ok, err := config.Token(t.Context(), host)
	if err != nil {
		t.Errorf("Token(%q): %v", host, err)
	}
	if !ok && string(token) != "" {
		t.Errorf("Token(%q) = a token and false", host)
	}
	return string(token)
}

// check reports an error of t if there are no errors, or if one has the canary.
func check(t *testing.T, name string, diags hcl.Diagnostics) {
	t.Helper()
	if !diags.HasErrors() {
		t.Errorf("%s: no error", name)
	}
	for _, diag := range diags {
		if text := fmt.Sprintf("%s %s %+v", diag.Summary, diag.Detail, diag.Extra); strings.Contains(text, canary) {
			t.Errorf("%s: the message has the secret: %s", name, text)
		}
	}
}

func credentials(token string) string {
	return fmt.Sprintf("credentials \"reg.example.com\" {\n  token = %q\n}\n", token)
}
