//go:build unix

package installer_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
)

// Named pipes with the names of version files are ignored. Opening them would block.
func TestDetectPassesOverPipes(t *testing.T) {
	t.Parallel()
	p := detectCase{}.project(t)
	for _, name := range []string{".terraform-version", ".tool-versions", "../.opentofu-version"} {
		testenv.Must(t, syscall.Mkfifo(filepath.Join(p.dir, name), 0o600))
	}
	result, err := p.installerOfBoth().Install(t.Context(), installer.Project{Dir: p.dir}, installer.InstallOptions{})
	if err != nil || result.Dialect != installer.DialectOpenTofu {
		t.Errorf("Install = %+v, %v; want tofu", result, err)
	}
}

// The files of a session do not wait for the other end of a pipe.
func TestSessionPassesOverPipes(t *testing.T) {
	t.Parallel()
	p := world(t, sessionWorld)
	testenv.WriteFile(t, filepath.Join(p.dir, "own/main.tf"), "")
	testenv.Must(t, syscall.Mkfifo(filepath.Join(p.dir, "own/pipe.tf"), 0o600))
	m := mustModule(t, begin(t, p, installer.InstallOptions{}), nil, config.Call{Name: "own", Source: "./own"})
	pipe, err := m.Files.Open("pipe.tf")
	testenv.Must(t, err)
	testenv.Must(t, pipe.Close())
}
