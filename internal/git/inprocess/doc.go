// Package inprocess fetches from git repositories in this process, without a git
// program. It has two clients:
//
//   - [V2] speaks version 2 of the protocol over http, for repositories that need
//     no credentials. Packs are read by package gitpack while they arrive.
//   - [Repository] speaks version 0 over http, ssh and git://, and reads
//     repositories of this machine where they are. It is for machines that have no
//     git. Packs, objects and the protocol's messages are read by go-git;
//     connections, limits and trust are this package's.
//
// They do not replace git. They do not
//
//   - read the user's configuration of git or ssh: credential helpers,
//     url.insteadOf, http.extraHeader, http.sslCAInfo, proxies, core.sshCommand,
//     GIT_SSH_COMMAND, host aliases, jump hosts
//   - read repositories whose objects are named by SHA-256, or whose refs are in
//     the reftable format
//   - keep anything between fetches
//
// By version 0 a server lists all its refs for every request, and gives single
// commits only if it allows that to all clients
// (uploadpack.allowReachableSHA1InWant). Otherwise the whole history is fetched.
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
// allows; a server that is silent for two minutes, or sends less than it must over
// that time, is given up.
package inprocess
