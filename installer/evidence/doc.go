// Package evidence says who confirms the bytes of a package, and whether that is enough for a
// run. Modules and providers follow the same rules.
//
// # Statements
//
// A lock entry, or what a run selects, relies on these statements:
//
//   - Package: the source, at the version, is this directory of this package. A registry's
//     package can be anywhere, so only the registry knows. For other sources the configuration
//     says it.
//   - Content: the package has these hashes. For git, the commit determines them, and for OCI
//     the digest.
//   - Ref: the tag or the branch of the address points to the locked commit or digest.
//   - History: the locked commit of a git repository is in the history of a branch or a tag
//     (refs/heads, refs/tags). A forge serves the commits of all forks and of all pull requests
//     under the address of the repository, so the address alone says nothing about a commit.
//     Where Ref holds, History need not be asked.
//   - Release: the package of a provider's version, for a platform, has these hashes.
//
// Anyone can compare bytes with hashes, so bytes may come from anywhere: an installation, a
// cache that a CI system has restored, a mirror, the stock tools' plugin cache. Only evidence
// makes a statement count.
//
// # Evidence
//
// [Kind] lists the kinds of evidence. A package is confirmed by its origin, by the signature of
// its registry, by a mirror or a bundle that the user named or imported, or by the user. It is
// brought if the project itself has it: a vendored module, a provider in terraform.d/plugins.
// A brought package must have a hash of the lock, and counts in this project only. Nothing of
// what a repository contains, or names, confirms anything. A program that uses the library may say
// that what is installed is enough, as stock tools do; no flag and no setting says so.
//
// An earlier run of this user keeps evidence under a code that only the user's key can
// make. It names the statement and its source. So it counts only in a run that would ask
// the same source and accept its answer: what a mirror has confirmed counts only while the
// user names that mirror.
//
// # The table
//
//	| run | module | provider | earlier evidence | no evidence | moved version tag | commit outside the history | history unknown |
//	|---|---|---|---|---|---|---|---|
//	| `install`, `init`, `update`, `lock`, `lock --check` | confirmed or brought | confirmed or brought | counts | refused | warning | refused | warning |
//	| `install --locked`, `init -lockfile=readonly` | confirmed or brought | confirmed or brought | counts | refused | refused | refused | refused |
//	| `mirror push`, `bundle create` | confirmed | confirmed | counts | refused | refused | refused | refused |
//	| `verify` | confirmed or brought | confirmed or brought | counts | listed | - | - | - |
//	| `verify --remote` | origin | origin or mirror | counts | refused | listed | listed | listed |
//	| `diff` | anything | - | counts | - | - | - | - |
//	| `lock --offline` | - | - | - | - | - | - | - |
//	| `install` and `verify` with `Options.TrustInstalled`, for installed packages | installed, confirmed or brought | installed, confirmed or brought | counts | - | - | - | - |
//
// The columns "module" and "provider" say what is enough for a package. Runs that may send
// requests ask for the evidence that is not at hand: first mirrors, then origins. Only vendored
// modules are brought modules. verify --remote asks every registry and every ref again; earlier
// evidence counts only for the content of a package that is not vendored.
//
// A moved version tag is a full version, such as v1.2.0, that points to something other than the
// locked commit or digest. Branches, HEAD and tags such as v1 move. The history is asked only for a commit that its ref has left, or that the
// configuration abbreviates. It is unknown if the repository has too many commits to fetch, or
// if its server cannot send them. The user can accept a commit outside the history, for one call
// and by a flag only.
package evidence
