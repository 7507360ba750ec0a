// Package modtest runs servers for modules and providers on the loopback interface, for tests of programs
// that install them. One file tree, such as a txtar text in the test, has everything that they serve:
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
//	result, err := world.Installer().Install(ctx, installer.Project{Dir: world.Dir(t, "config")}, installer.InstallOptions{})
//
// These top-level directories have a meaning, and all others belong to the test ([World.WriteTree]):
//
//   - registry/NAMESPACE/NAME/SYSTEM/VERSION/...: the module registry, with full semantic versions. Each
//     package is also a git repository, "registry/NAMESPACE/NAME/SYSTEM.git", with tags "vVERSION"; the
//     registry points to its commits, unless [Options] say otherwise.
//   - git/REPO/TAG/...: git repositories. REPO ends with the first name in ".git". In TAG, "%2F" is a slash
//     and "%25" a percent sign; "_HEAD" is not a tag but the last commit of the branch main.
//   - archives/NAME/...: archives. NAME ends with the first name in ".zip" or ".tar.gz".
//   - oci/REPOSITORY/TAG/...: module packages in an OCI registry. In REPOSITORY, "%2F" is a slash.
//   - providers/NAMESPACE/TYPE/VERSION/OS_ARCH/...: the provider registry, and its network mirror at
//     /mirror/. Files whose names begin with "terraform-provider-" are executable.
//   - files/...: plain files, at /files/.
//
// Links and executable bits are kept, and empty directories are not. Names and link targets are not checked,
// so a package can be hostile. Git repositories need an installed git. The servers keep all requests in
// memory.
package modtest
