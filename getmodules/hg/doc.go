// Package hg fetches module packages from Mercurial repositories with the installed hg,
// for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": hg.Getter{}}}
//
// # Addresses
//
// An address has the form hg::URL, with the scheme https, http or ssh, or file in the user's
// own configuration. The argument rev is a changeset, tag, bookmark or branch. The default is
// the branch "default", or the tip of a repository without that branch. The server resolves the
// name, and the 40 digits of the changeset become the package's revision. All other arguments
// are passed to the server. A fragment is refused, because hg would take it for a branch.
//
// # How hg is run
//
// go-getter has a getter for Mercurial, which is not used. It passes passwords in arguments,
// where every user of the machine can read them. It may prompt on the terminal. It lets the
// user's extensions and filters change the files. It does not report which changeset it
// fetched.
//
// This package writes the URL with its credentials to the configuration file of a private
// repository. The arguments of hg contain only the name of the remote in that file and, after
// "--rev=", a checked revision. The history up to the changeset is pulled, because Mercurial
// cannot transfer less. No working copy is created.
//
// The pull uses the user's own configuration, which has certificates, proxies, ssh settings and
// credentials. It also uses the user's extensions and hooks, except extensions that keep file
// contents elsewhere. The files are then read without the user's configuration, so they are the
// same on every machine. The fetched repository cannot bring its own configuration.
// Subrepositories are left out.
//
// hg has no terminal and no standard input, so it cannot prompt. Canceling the context ends hg
// and all processes that it started.
//
// # Limits
//
// The stored history is limited to the size of a download, and the files to the size of a tree;
// see [getmodules.Limits]. The memory of hg is not limited. hg follows HTTP redirects by its
// own rules.
package hg
