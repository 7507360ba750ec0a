package cliconfig

import (
	"slices"
	"strings"
)

// The variables that helpers get. Programs in the wild need a home and a PATH,
// the way to a keyring or an agent, and the settings of the cloud provider or
// secret store whose tokens they hand out. All else is none of their business.
var (
	allowedNames = []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR",
		"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "GNUPGHOME", "GPG_TTY",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "KUBECONFIG",
		// Windows does not start programs without these.
		"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
		"HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	}
	allowedPrefixes = []string{
		"LC_", "XDG_", "DOCKER_", "AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "VAULT_", "BAO_", "OP_", "PASSWORD_STORE_",
	}
)

// forHelpers reports whether helpers get a variable.
func (s Source) forHelpers(name string) bool {
	if s.windows() || strings.HasSuffix(name, "_proxy") { // which is spelled either way
		name = strings.ToUpper(name)
	}
	return slices.Contains(allowedNames, name) ||
		slices.ContainsFunc(allowedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
