package cotter

import (
	"fmt"
	"path"

	"github.com/cotterpin/cotter/addrs"
)

// warnOfCredentials tells the user about a secret in a source address. It works,
// as in stock tools, and it is not for their eyes only: whoever may read the
// configuration has it, and so has the manifest, in which stock tools look for
// the address as it is written.
func (r *run) warnOfCredentials(n *node) {
	remote, ok := n.source.(addrs.ModuleSourceRemote)
	if !ok || !remote.Package.HoldsCredentials() {
		return
	}
	rng := n.call.SourceRange
	if rng.Filename == "" {
		rng = n.call.Range
	}
	r.warn(n.path, fmt.Sprintf("%s:%d: the source address holds credentials, which everybody sees who may read this file or %s; %s",
		rng.Filename, rng.Start.Line, path.Join(r.req.dataPath(), "modules", "modules.json"), betterPlace(remote.Package)))
}

// betterPlace says where the credentials for a package should be.
func betterPlace(pkg addrs.ModulePackage) string {
	switch pkg.Getter() {
	case "git":
		return "take them out and let git find them, by a credential helper (git config credential.helper), " +
			"url.<base>.insteadOf in your own git configuration, or a key in the ssh agent"
	case "s3", "gcs":
		return "take them out and name a profile, or leave them to the environment of the cloud's own tools"
	case "http", "https":
		return "take them out and put them into the file .netrc in your home directory (machine HOST login NAME password SECRET)"
	}
	return "take them out and get the package from a registry, a git repository or an OCI registry, " +
		"whose credentials are kept outside of the configuration"
}
