//go:build unix

package installer_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cotterpin/cotter/installer"
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
