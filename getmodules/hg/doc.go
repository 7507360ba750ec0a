// Package hg fetches module packages from Mercurial repositories by the hg that
// is installed, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"hg": hg.Getter{}}}
//
// # Addresses
//
// hg::URL by https, http, ssh and, where the user's own configuration has it,
// file. The argument rev is a changeset, tag, bookmark or branch; without it,
// the branch "default" counts, and the tip of a repository that has none. The
// server decides what a name means, and the 40 digits of the changeset become
// the package's revision. All other arguments are the server's. A fragment is
// refused: hg would take it for a branch.
//
// # How hg is run
//
// go-getter has a getter for this too, which is not used: it passes passwords in
// arguments, where every user of the machine can read them, may ask questions on
// the terminal, lets the user's extensions and filters change the files, and
// does not tell which changeset it took.
//
// Here the URL and its credentials stand in the configuration file of a private
// repository, and hg is given only the name of that and a revision that was
// checked, behind "--rev=". The history up to the changeset is pulled, as there
// is nothing less in Mercurial; no working copy is made of it. While the network
// is in use the user's own configuration counts, since certificates, proxies,
// ssh settings and credentials live there; that includes its extensions and
// hooks, but for those extensions that keep files elsewhere. A repository brings
// no configuration. Then the files are read without any configuration of the
// user's, so that they are the same everywhere. Subrepositories are left out.
//
// There is no terminal and no standard input, so nothing can be asked. A
// cancelled hg is ended with all that it started.
//
// # Limits
//
// The stored history may have as many bytes as a download, and the files as many
// as a tree; see [getmodules.Limits]. Nothing bounds hg's own memory. Redirects
// of http are hg's business.
package hg
