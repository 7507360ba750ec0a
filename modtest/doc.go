// Package modtest runs servers for modules and providers on the loopback interface, for
// tests of programs that install them. One file tree describes everything that they
// serve, for example a txtar text in the test:
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
//	result, err := world.Installer().Install(ctx, cotter.Request{Dir: dir})
//
// Programs that have a client of their own use [World.HTTPClient]. Child processes (git,
// terraform, tofu) get [World.Env] added to their environment.
//
// A test of providers has its packages in the tree, and an address of the world in
// its configuration:
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
// The tree is an [fs.FS]: [Txtar], [os.DirFS], [testing/fstest.MapFS]. The following
// top-level directories have a meaning. All others belong to the test, which writes them
// to disk by [World.WriteTree] or [World.Dir].
//
//   - registry/NAMESPACE/NAME/SYSTEM/VERSION/... are the versions that the
//     module registry lists. VERSION is a full semantic version without a
//     "v". Unless [Options] say otherwise each package is also a git
//     repository, "registry/NAMESPACE/NAME/SYSTEM.git" with a tag "vVERSION"
//     for each version, and the registry points to its commits.
//   - git/REPO/TAG/... are git repositories. REPO is the path up to and
//     including the first name that ends in ".git" ("net.git",
//     "team/net.git"), and each directory in it is a tag. In TAG, "%2F" stands
//     for a slash and "%25" for a percent sign, as in URLs. The directory
//     "_HEAD" is not a tag but the last commit of the branch main.
//   - archives/NAME/... are archives that are packed when they are asked for.
//     NAME is the path up to and including the first name that ends in ".zip"
//     or ".tar.gz".
//   - oci/REPOSITORY/TAG/... are module packages in an OCI registry. In
//     REPOSITORY, "%2F" stands for a slash: "oci/acme%2Fnet/1.2.0/main.tf" is in
//     the package that "oci://127.0.0.1:PORT/acme/net?tag=1.2.0" names.
//   - providers/NAMESPACE/TYPE/VERSION/OS_ARCH/... are the packages of providers that
//     the provider registry and its mirrors have. Files whose names begin with
//     "terraform-provider-" are executable in them.
//   - files/... are plain files.
//
// Symbolic links and executable bits of the fs.FS are kept; empty directories are not.
// Names and targets of links are not checked. So a package can be hostile, with a link
// that points out of it or with a ".git".
//
// The text MODTEST_HOST ([HostPlaceholder]), anywhere in a file, becomes
// "127.0.0.1:PORT" when the file is served or written to disk. PORT differs in each run.
// So the hashes of such files differ too, as do the ids of the commits that contain them
// and of all later commits, and the digests of OCI artifacts. All other hashes and ids
// are the same in every run and on every machine: commits have a fixed author and fixed
// dates.
//
// # The servers
//
// One TLS listener, at [World.URL], serves all parts, and [World.PlainURL] is
// the same without TLS:
//
//   - /.well-known/terraform.json: the discovery document;
//   - /v1/modules/: the module registry protocol;
//   - /v1/providers/: the provider registry protocol, and /providers/: archives, sums
//     and signatures. Sums are signed with a key of the process ([World.ProviderKey]).
//   - /mirror/: the network mirror protocol for the same packages, under any host;
//     [World.WriteProviderMirror] and [World.PushOCIProvider] make other mirrors.
//   - /packages/: the packages to which the registry points, unless it points to git;
//   - /git/REPO: smart HTTP, served by the installed git;
//   - /archives/NAME and /files/PATH;
//   - /v2/: the OCI distribution protocol, and /oci/token, where tokens for it
//     are given out. Each tag is an image manifest with the artifact type
//     "application/vnd.opentofu.modulepkg" and one layer "archive/zip";
//     [World.PushOCI] makes other ones.
//
// A repository has one commit for each tag, on the branch main. The tags that are not
// semantic versions (after an optional "v") come first, by name, followed by the versions
// from the oldest to the newest. A repository is made on the first request.
//
// The certificate is for 127.0.0.1, ::1, localhost, example.com and every name
// right below example.com. World.HTTPClient connects to the world for all of these
// names. So tests without child processes can use a constant registry address, such as
// "registry.example.com/acme/net/aws".
//
// Each request is recorded ([World.Requests]). [Options] and [Fault] imitate registries
// and their faults, and [World.SetProviderShape] faulty providers.
// [World.PublishVersion], [World.PublishProvider], [World.MoveTag] and similar methods
// change what is served while the servers run.
//
// # Limits
//
//   - Repositories need an installed git (tested with 2.39). Without git, [New] skips
//     a test whose tree has repositories.
//   - Git repositories and registries are read-only for clients, and tests push
//     artifacts to the OCI registry by PushOCI, not by its protocol.
//   - Go programs on macOS and Windows ignore SSL_CERT_FILE, so there the real
//     terraform and tofu do not trust the world. HTTPClient works everywhere.
//   - The servers are for tests only: they keep every request in memory and pack a
//     module's archive for each download.
package modtest
