package advice_test

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/installerinternal"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

func inModule(key string, err error) error {
	return &installer.ModuleError{Path: addrs.Module{key}, Err: err}
}

func notInstalled(key string) error {
	return inModule(key, fmt.Errorf("%w from this source", installer.ErrNotInstalled))
}

func ofProvider(err error) error {
	return &installer.ProviderError{Provider: addrs.Provider{Hostname: addrs.DefaultRegistryHost, Namespace: "hashicorp", Type: "cloud"}, Err: err}
}

func diagnosed(extra any) error {
	return &installer.ConfigError{Diagnostics: hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "x", Extra: extra}}}
}

var remedyCases = []struct {
	name string
	err  error
	want []string
}{
	{"two projects", errors.Join(&installer.ProjectError{Dir: "envs/prod", Err: notInstalled("a")}, &installer.ProjectError{Dir: "my envs/it's", Err: notInstalled("a")}), []string{
		"Run `cotter install --chdir envs/prod` to install what is missing. Do the same for my envs/it's.",
	}},
	{"a commit outside the history, of a tag in one of several projects", &installer.ProjectError{Dir: "envs/prod", Err: inModule("a", &installer.UnreachableError{Path: addrs.Module{"a"}, Ref: "tag v1.0.0", Fixed: true})}, []string{
		"Look at the lock's last changes, with `git log -p envs/prod/.terraform.lock.hcl`.",
		"If you know why the tag has moved, run `cotter update --chdir envs/prod a --accept-changed a` to lock what it points to now.",
		"To use the locked commit nevertheless, run the command with `--accept-unreachable a`.",
	}},
	{"an unknown history", inModule("a", &installer.UnreachableError{Path: addrs.Module{"a"}, Ref: "branch main", Unknown: true}), []string{
		"Run `cotter update a` to lock what the address points to now.",
		"Use `--mirror` or `--bundle` to take the package from a mirror or a bundle, if one has it.",
		"To use the locked commit nevertheless, run the command with `--accept-unreachable a`.",
	}},
	{"a package with submodules", inModule("net", &installer.HashMismatchError{Path: addrs.Module{"net"}, Want: []hashing.Hash{"h1:x"}, Got: []hashing.Hash{"h1:y"}, Gitlinks: []string{"sub"}}), []string{
		"If the lock was made with the setting `submodules`, set it here too.",
		"If you know why, run `cotter update net --accept-changed net` to lock the new content.",
	}},
	{"a package of another address", inModule("net", &installer.HashMismatchError{Path: addrs.Module{"net"}, Want: []hashing.Hash{"h1:x"}, Got: []hashing.Hash{"h1:y"}, OtherAddress: true}), []string{
		"Run `cotter install` to bring the lock up to date.",
	}},
	{"a package of no call", &installer.HashMismatchError{Want: []hashing.Hash{"h1:x"}, Got: []hashing.Hash{"h1:y"}}, nil},
	{"another registry", inModule("net", &installer.HostChangedError{Path: addrs.Module{"net"}, Dialect: installer.DialectTerraform}), []string{
		"Use `--for terraform` to keep the registry, or `--for tofu` to change it.",
	}},
	{"an unknown provider, and another one of its type", ofProvider(&config.UnknownProviderError{SameType: []addrs.Provider{{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: "cloud"}}, Err: fs.ErrInvalid}), []string{
		"Write `source = \"acme/cloud\"` for the provider cloud in the required_providers of each module that should use acme/cloud.",
	}},
	{"an unknown provider of two projects", errors.Join(
		&installer.ProjectError{Dir: "a", Err: ofProvider(&config.UnknownProviderError{SameType: []addrs.Provider{{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: "cloud"}}, Err: fs.ErrInvalid})},
		&installer.ProjectError{Dir: "b", Err: ofProvider(&config.UnknownProviderError{SameType: []addrs.Provider{{Hostname: addrs.DefaultRegistryHost, Namespace: "acme", Type: "cloud"}}, Err: fs.ErrInvalid})},
	), []string{
		"Write `source = \"acme/cloud\"` for the provider cloud in the required_providers of each module that should use acme/cloud.",
	}},
	{"an unknown provider of no module", ofProvider(&config.UnknownProviderError{Err: fs.ErrInvalid}), []string{
		"No module requires it. Run `cotter install --prune-providers` to remove it from the lock.",
	}},
	{"a provider that has moved", ofProvider(&config.UnknownProviderError{Renamed: addrs.Provider{Hostname: "reg.example.com", Namespace: "acme", Type: "new"}, Err: fs.ErrInvalid}), []string{
		"Write `source = \"reg.example.com/acme/new\"` for the provider cloud in the required_providers of each module that should use reg.example.com/acme/new.",
	}},
	{"a version for other machines, and a constraint", ofProvider(&config.UnusableVersionError{Other: versions.MustParse("1.2.0"), Err: fs.ErrInvalid}), nil},
	{"a version that is gone", ofProvider(&config.UnusableVersionError{Other: versions.MustParse("1.2.0"), Allowed: true, Unlisted: true, Err: fs.ErrInvalid}), []string{
		"Run `cotter update hashicorp/cloud` to select another version.",
	}},
	{"a locked run and an entry that has vanished", &installer.LockedError{Reasons: []installer.LockedReason{{Path: addrs.Module{"a"}}, {Path: addrs.Module{"b"}, Vanished: true}}}, []string{
		"Run `cotter install` on your machine and commit the lock.",
		"Run `cotter lock --offline` to put back entries that have vanished from the lock.",
	}},
	{"a lock with a history that cannot be read", fmt.Errorf("%w; %w", installerinternal.ErrNothingToRestore, &repository.HistoryEndError{Err: fs.ErrInvalid}), nil},
	{"a lock that is a link in the project", &installer.LinkedLockError{Target: "$(x)", Inside: "$(x)", Err: fs.ErrInvalid}, []string{
		`Replace the link with a copy of the file "$(x)", as tofu and terraform do when they write the lock; or keep Cotter's entries only in that file, with ` + "`lock_file = \"$(x)\"` in the settings block of cotter.hcl.",
	}},
	{"a read-only file system", inModule("net", &fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EROFS}), []string{
		"Mount the file system so that it can be written to, and run the command again.",
	}},
	{"a lock in .git", fmt.Errorf("the lock file: %w", installer.ErrMetadata), []string{
		"Use another path with `lock_file` in cotter.hcl or TF_DATA_DIR, or remove the link that points there.",
	}},
	{"a merge conflict", &lockfile.SyntaxError{Diagnostics: hcl.Diagnostics{{Severity: hcl.DiagError, Extra: lockfile.MergeConflict{}}}}, []string{
		"Run `cotter install` to merge the sides. If it cannot, it says why.",
	}},
	{"a value that only tofu knows", errors.Join(diagnosed(config.UnknownToTerraform{}), diagnosed(config.UnknownToTerraform{}), diagnosed(nil)), []string{
		"Use `--for tofu` to read the project as tofu does.",
	}},
	{"a report", advice.ReportError{Err: advice.Advised("not verified", advice.Repair), Causes: []error{inModule("net", &getmodules.SubmoduleError{Path: "sub"})}}, []string{
		"Run `cotter install` to restore what the lock has.",
		"Set `submodules = true` in the settings block of cotter.hcl to fetch submodules, or call the submodule's repository as a module of its own.",
	}},
}

// TestRemedies checks what is suggested for errors of the library, which only state
// facts, as far as no output in testdata/golden shows it.
func TestRemedies(t *testing.T) {
	t.Parallel()
	for _, test := range remedyCases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var list []advice.Remedy
			run := advice.Run{}
			for _, m := range run.Explain(advice.Messages(test.err)) {
				list = append(list, m.Remedies...)
			}
			if diff := cmp.Diff(test.want, run.AdviceLines(list), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("what to do next (-want +got):\n%s", diff)
			}
		})
	}
}
