// Package evidence says who confirms the bytes of a package, and whether that is enough for a run.
//
// A lock entry of a module or a provider, or what a run selects, relies on these statements:
//
//   - Package: the module of a registry, at the version, is this directory of this package.
//   - Content: the package has these hashes. A git commit or an OCI digest determines them.
//   - Ref: the tag or branch of the address points to the locked commit or digest.
//   - History: the locked commit is in the history of a branch or a tag, asked only if Ref does not
//     hold. The address proves nothing: a forge serves the commits of all forks and pull requests there.
//   - Release: the package of a provider's version, for a platform, has these hashes.
//
// Anyone can compare bytes with hashes, so bytes may come from anywhere. Only evidence makes a
// statement count: see [Kind]. A package is confirmed by the origin, a signature, a mirror or bundle
// that the user named or imported, or the user. A provider in terraform.d/plugins is
// brought by the project: it must have a hash of the lock, and counts in this project only. Evidence of
// an earlier run of this user counts in runs that would accept it from its source now.
//
//	| run | module | provider | earlier evidence | no evidence | moved version tag | commit outside the history | history unknown |
//	|---|---|---|---|---|---|---|---|
//	| `install`, `init`, `update`, `lock`, `lock --check` | confirmed | confirmed or brought | counts | refused | warning | refused | warning |
//	| `install --locked`, `init -lockfile=readonly` | confirmed | confirmed or brought | counts | refused | refused | refused | refused |
//	| `mirror push`, `bundle create` | confirmed | confirmed | counts | refused | refused | refused | refused |
//	| `verify` | confirmed | confirmed or brought | counts | listed | - | - | - |
//	| `verify --remote` | origin | origin or mirror | counts | refused | listed | listed | listed |
//	| `diff` | anything | - | counts | - | - | - | - |
//	| `lock --offline` | - | - | - | - | - | - | - |
//	| `install` and `verify` with `Options.TrustInstalled`, for installed packages | installed or confirmed | installed, confirmed or brought | counts | - | - | - | - |
//
// A moved version tag is a full version, such as v1.2.0: branches and tags such as v1 move. The
// history is asked for a commit that its ref has left or that the configuration abbreviates.
package evidence
