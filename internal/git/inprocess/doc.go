// Package inprocess is a git client within the process, for machines that have no
// git. It fetches from git-upload-pack by the protocol's version 0 and reads
// repositories of this machine where they are. Packs, objects and the
// protocol's messages are go-git's business; connections, limits and trust are
// this package's.
//
// It is not a replacement for git. It does not
//
//   - read the user's configuration of git or ssh: credential helpers,
//     url.insteadOf, http.extraHeader, http.sslCAInfo, proxies, core.sshCommand,
//     GIT_SSH_COMMAND, host aliases, jump hosts
//   - read repositories whose objects are named by SHA-256, or whose refs are in
//     the reftable format
//   - speak version 2 of the protocol, so a server lists all its refs for every
//     request, and gives single commits only if it allows that to all clients
//     (uploadpack.allowReachableSHA1InWant)
//   - keep anything between fetches
//
// What fails for one of these reasons is an [*Error] of the kind [Unsupported].
//
// # SSH
//
// Keys are offered in this order: the one that the caller gives, those of the
// agent at SSH_AUTH_SOCK, those in ~/.ssh/id_ed25519, id_ecdsa and id_rsa that
// have no passphrase. Nobody is asked for anything. The host's key must be in
// ~/.ssh/known_hosts or the system's ssh_known_hosts; there is no way around
// that.
//
// # Limits
//
// A list of refs has at most 64 MiB; a pack has at most as many bytes as the
// caller allows, two million objects, and none that is larger than the caller
// allows; a server that is silent for two minutes, or sends less than it
// must over that time, is given up.
package inprocess
