package installer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/modtest"
)

// providerWorld serves providers to projects that share an installer and its cache. In texts,
// HOST stands for the registry's host and PLATFORM for the platform of this machine.
type providerWorld struct {
	*modtest.World
	in *installer.Installer

	mu       sync.Mutex
	warnings []string
}

func newProviderWorld(t *testing.T, text string, opts modtest.Options) *providerWorld {
	t.Helper()
	text = strings.ReplaceAll(text, "PLATFORM", addrs.CurrentPlatform().String())
	w := &providerWorld{World: modtest.NewWith(t, modtest.Txtar(text), opts)}
	w.in = w.Installer()
	w.in = with(w.in, func(o *installer.Options) {
		o.OnEvent = func(ev installer.Event) {
			if warning, ok := ev.(event.Warning); ok {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.warnings = append(w.warnings, w.plain(warning.Message))
			}
		}
	})
	return w
}

// plain replaces the registry's host in text by HOST.
func (w *providerWorld) plain(text string) string {
	return strings.ReplaceAll(text, string(w.Host()), "HOST")
}

// warned returns the warnings since the last call, one per line.
func (w *providerWorld) warned() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := strings.Join(w.warnings, "\n")
	w.warnings = nil
	return text
}

// asked returns the paths of the requests since the last call.
func (w *providerWorld) asked() []string {
	var paths []string
	for _, r := range w.Requests() {
		paths = append(paths, r.Path)
	}
	w.ResetRequests()
	return paths
}

// project creates a project with files, by their names, and returns its directory.
func (w *providerWorld) project(t *testing.T, files map[string]string) string {
	t.Helper()
	return writeProject(t, files, string(w.Host()))
}

func writeProject(t *testing.T, files map[string]string, host string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testenv.WriteFile(t, filepath.Join(dir, filepath.FromSlash(name)), strings.ReplaceAll(text, "HOST", host))
	}
	return dir
}

func required(entries ...string) string {
	return "terraform {\n  required_providers {\n    " + strings.Join(entries, "\n    ") + "\n  }\n}\n"
}

func lockedProvider(address, version string) string {
	return "provider \"" + address + "\" {\n  version = \"" + version + "\"\n}\n"
}

// versionsOf returns providers with their versions, such as "HOST/acme/cloud 1.0.0".
func (w *providerWorld) versionsOf(providers []installer.Provider) string {
	var list []string
	for _, p := range providers {
		list = append(list, w.plain(strings.TrimSpace(p.Address.String()+" "+p.Version.String())))
	}
	return strings.Join(list, ", ")
}

// fileIn returns the content of a file, or "" if it does not exist.
func fileIn(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func installProviders(ctx context.Context, in *installer.Installer, req request) (*installer.Result, error) {
	req.Scope = installer.ScopeProviders
	return in.Install(ctx, req.Project, req.InstallOptions)
}

func loadProviders(ctx context.Context, in *installer.Installer, req request) ([]installer.Provider, error) {
	req.Scope = installer.ScopeAll
	result, err := in.Load(ctx, req.Project, req.load())
	if err != nil {
		return nil, err
	}
	return result.Providers, nil
}

func outdatedProviders(ctx context.Context, in *installer.Installer, req request) ([]installer.OutdatedProvider, error) {
	req.Scope = installer.ScopeProviders
	found, err := in.Outdated(ctx, req.Project, installer.OriginOptions{Scope: req.Scope})
	if found == nil {
		return nil, err
	}
	return found.Providers, err
}
