package installer_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/testenv"
	"github.com/cotterpin/cotter/policy"
)

const fetchWorld = `
-- config/main.tf --
-- registry/acme/net/aws/1.0.0/main.tf --
# one
-- registry/acme/net/aws/1.5.0/main.tf --
# five
-- registry/acme/net/aws/1.5.0/x/main.tf --
-- git/infra.git/v1.0.0/main.tf --
-- git/infra.git/v1.0.0/run.sh --
`

// One call is fetched as an installation would, and the project stays as it is.
func TestFetch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source, version string
		want            string // the module's directory, and its version
		fails           string
	}{
		{net, "", ". 1.5.0", ""},
		{net, "~> 1.0.0", ". 1.0.0", ""},
		{net + "//x", "", "x 1.5.0", ""},
		{"git::https://MODTEST_HOST/git/infra.git?ref=v1.0.0", "", ". ", ""},
		{"git::https://MODTEST_HOST/git/infra.git?version=1.0.0", "", ". 1.0.0", ""},
		{net, "> 2.0.0", "", "no version meets the constraint"},
		{net + "//y", "", "", "y"},
		{"MODTEST_HOST/acme/none/aws", "", "", "none"},
		{"./x", "", "", "it is a directory of this machine, which is not fetched"},
		{"not an address", "", "", "not an address"},
	} {
		t.Run(test.source+test.version, func(t *testing.T) {
			t.Parallel()
			p := world(t, fetchWorld)
			before, dir := snapshot(t, p.dir), filepath.Join(t.TempDir(), "net")
			call := config.Call{Source: strings.ReplaceAll(test.source, "MODTEST_HOST", string(p.world.Host()))}
			if test.version != "" {
				call.Version = &test.version
			}
			m, err := p.installer().Fetch(t.Context(), installer.Project{Dir: p.dir}, call, dir)
			if after := snapshot(t, p.dir); len(after) != len(before) {
				t.Errorf("the project has now %v", after)
			}
			if test.fails != "" {
				if _, ok := errors.AsType[*installer.ModuleError](err); !ok || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("error %v, want one about the module with %q", err, test.fails)
				}
				if exists(dir) {
					t.Error("the directory exists after the error")
				}
				return
			}
			testenv.Must(t, err)
			below, err := filepath.Rel(dir, m.Dir)
			testenv.Must(t, err)
			if got := filepath.ToSlash(below) + " " + m.Version.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if hash, err := hashing.Dir(t.Context(), dir); err != nil || !slices.Contains(m.Hashes, hash) {
				t.Errorf("hashes %v, the directory has %v, %v", m.Hashes, hash, err)
			}
			if _, err := os.Stat(filepath.Join(m.Dir, "main.tf")); err != nil {
				t.Error(err)
			}
			if _, err := p.installer().Fetch(t.Context(), installer.Project{Dir: p.dir}, call, dir); !errors.Is(err, fs.ErrExist) || !exists(m.Dir) {
				t.Errorf("a second fetch into the directory: error %v, want ErrExist and the files left alone", err)
			}
		})
	}
}

// The policy of the project applies to what is fetched.
func TestFetchUnderPolicy(t *testing.T) {
	t.Parallel()
	p := world(t, fetchWorld)
	p.write(t, "cotter.hcl", "policy {\n  allow_sources = [\"registry.example.com/acme\"]\n}\n")
	p.world.ResetRequests()
	dir := filepath.Join(t.TempDir(), "net")
	_, err := p.installer().Fetch(t.Context(), installer.Project{Dir: p.dir}, config.Call{Source: p.world.Source("acme/net/aws")}, dir)
	if _, ok := errors.AsType[*policy.Violation](err); !ok || len(p.world.Requests()) > 0 || exists(dir) {
		t.Errorf("error %v after the requests %v, want a violation of the policy before any", err, p.world.Requests())
	}
}
