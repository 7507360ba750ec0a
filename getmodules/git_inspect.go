package getmodules

import (
	"context"

	"github.com/cotterpin/cotter/internal/git/gitexec"
)

// GitInstallation describes an installed git.
type GitInstallation struct {
	// Version is what the program reports, without the prefix "git version".
	Path, Version string
	// Settings are those of the user and the system that affect requests to servers, in git's order.
	Settings []GitSetting
}

// GitSetting is one setting of git.
type GitSetting struct {
	// Name is in lower case, except for its subsection, as in url.https://a/.insteadof.
	Name string
	// Value is "" if it may contain a secret.
	Value string
}

// TurnsOffVerification reports whether the setting makes git accept any certificate.
func (s GitSetting) TurnsOffVerification() bool { return gitexec.Setting(s).TurnsOffVerification() }

// Inspect returns the version and the configuration of the program. The error wraps [ErrNoGit] if there is
// no usable git. If only the configuration cannot be read, it comes with the rest.
func (g Git) Inspect(ctx context.Context) (GitInstallation, error) {
	program := &gitexec.Git{Path: g.Path, Env: g.Env, Interactive: g.Interactive}
	found, err := program.Inspect(ctx)
	installation := GitInstallation{Path: found.Path, Version: found.Version}
	for _, setting := range found.Settings {
		installation.Settings = append(installation.Settings, GitSetting(setting))
	}
	return installation, err
}
