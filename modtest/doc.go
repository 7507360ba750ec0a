// Package modtest runs servers for modules and providers on the loopback interface, for tests of
// programs that install them. One file tree describes everything that they serve, for example a
// txtar text in the test:
//
//	world := modtest.New(t, modtest.Txtar(`
//	-- registry/acme/net/aws/1.2.0/main.tf --
//	output "id" { value = "net" }
//	-- config/main.tf --
//	module "net" {
//	  source  = "MODTEST_HOST/acme/net/aws"
//	  version = "~> 1.2"
//	}
//	`))
//	dir := world.Dir(t, "config")
//	result, err := world.Installer().Install(ctx, installer.Request{Dir: dir})
//
// Programs that have their own client use [World.HTTPClient]. The entries of [World.Env] must be
// added to the environment of child processes (git, terraform, tofu).
//
// A test of providers has their packages in the tree, and an address of the world in its
// configuration:
//
//	-- providers/acme/cloud/1.0.0/linux_amd64/terraform-provider-cloud --
//	not a program
//	-- config/main.tf --
//	terraform {
//	  required_providers {
//	    cloud = { source = "MODTEST_HOST/acme/cloud" }
//	  }
//	}
//
// # The tree
//
// The tree is an [fs.FS]: [Txtar], [os.DirFS], [testing/fstest.MapFS]. The following top-level
// directories have a meaning. All others belong to the test, which writes them to disk with
// [World.WriteTree] or [World.Dir].
//
//   - registry/NAMESPACE/NAME/SYSTEM/VERSION/... are the versions that the module registry lists.
//     VERSION is a full semantic version without a "v". Unless [Options] say otherwise, each
//     package is also a git repository, "registry/NAMESPACE/NAME/SYSTEM.git", with a tag
//     "vVERSION" for each version, and the registry points to its commits.
//   - git/REPO/TAG/... are git repositories. REPO is the path up to and including the first name
//     that ends in ".git" ("net.git", "team/net.git"), and each directory in it is a tag. In TAG,
//     "%2F" stands for a slash and "%25" for a percent sign, as in URLs. The directory "_HEAD" is
//     not a tag but the last commit of the branch main.
//   - archives/NAME/... are archives that are packed when they are requested. NAME is the path up
//     to and including the first name that ends in ".zip" or ".tar.gz".
//   - oci/REPOSITORY/TAG/... are module packages in an OCI registry. In REPOSITORY, "%2F" stands
//     for a slash: "oci/acme%2Fnet/1.2.0/main.tf" is in the package with the address
//     "oci://127.0.0.1:PORT/acme/net?tag=1.2.0".
//   - providers/NAMESPACE/TYPE/VERSION/OS_ARCH/... are the packages in the provider registry and
//     its mirrors. Files whose names begin with "terraform-provider-" are executable in them.
//   - files/... are plain files.
//
// Real configurations need more providers and modules than a tree can have. [World.MakeUpProvider],
// [World.MakeUpModule] and [Options].MadeUp make up whichever versions they ask for.
//
// Symbolic links and executable bits of the fs.FS are kept; empty directories are not. Names and
// link targets are not checked, so a package can be hostile: it can have a link that points out
// of it, or a ".git".
//
// The text MODTEST_HOST ([HostPlaceholder]) is replaced by "127.0.0.1:PORT" in every file when
// the file is served or written to disk. PORT differs in each run. So the hashes of such files
// differ too, as do the ids of the commits that contain them and of all later commits, and the
// digests of OCI artifacts. All other hashes and ids are the same in every run and on every
// machine, because commits have a fixed author and fixed dates.
//
// # The servers
//
// One TLS listener, at [World.URL], serves all of the following. [World.PlainURL] is the same
// without TLS:
//
//   - /.well-known/terraform.json: the discovery document;
//   - /v1/modules/: the module registry protocol;
//   - /v1/providers/: the provider registry protocol, and /providers/: archives, sums and
//     signatures. Sums are signed with a key of the process ([World.ProviderKey]).
//   - /mirror/: the network mirror protocol for the same packages, for any host;
//     [World.WriteProviderMirror] and [World.PushOCIProvider] create other mirrors.
//   - /packages/: the packages that the registry points to, unless it points to git;
//   - /git/REPO: smart HTTP, served by the installed git;
//   - /archives/NAME and /files/PATH;
//   - /v2/: the OCI distribution protocol, and /oci/token, which issues tokens for it. Each tag
//     is an image manifest with the artifact type "application/vnd.opentofu.modulepkg" and one
//     layer "archive/zip"; [World.PushOCI] creates others.
//
// A repository has one commit for each tag, on the branch main. Tags that are not semantic
// versions (after an optional "v") come first, sorted by name, followed by the versions from the
// oldest to the newest. A repository is created on the first request.
//
// The certificate is valid for 127.0.0.1, ::1, localhost, example.com and every name directly
// below example.com. World.HTTPClient connects to the world for all of these names. So tests
// without child processes can use a constant registry address, such as
// "registry.example.com/acme/net/aws". Modules from there need [Options].Archives or
// [Options].Hosted: by default, the registry points to git on 127.0.0.1, which clients accept only
// from a registry that is at such an address itself.
//
// Each request is recorded ([World.Requests]). [Options] and [Fault] simulate registries and
// their faults, and [World.SetProviderShape] simulates faulty providers. [World.PublishVersion],
// [World.PublishProvider], [World.MoveTag] and similar methods change the served content while
// the servers are running.
//
// # Limits
//
//   - Repositories require an installed git (tested with 2.39). If git is not installed, [New]
//     skips a test whose tree has repositories.
//   - Git repositories and registries are read-only for clients. Tests push artifacts to the OCI
//     registry with PushOCI, not with its protocol.
//   - Go programs on macOS and Windows ignore SSL_CERT_FILE, so the real terraform and tofu do
//     not trust the world there. HTTPClient works everywhere.
//   - The servers are for tests only: they keep every request in memory, and pack a module's
//     archive for each download.
package modtest
