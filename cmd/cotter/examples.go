package main

// example is a command line that help shows, with its purpose.
type example struct{ what, command string }

// examples has at least one example for each command.
var examples = map[string][]example{
	"cotter": {
		{"Install everything that the configuration needs, and write the lock.", "cotter install"},
		{"In CI: install exactly what the lock says.", "cotter install --locked"},
		{"Do the installed files still match the lock?", "cotter verify"},
		{"List newer versions, and update one module call.", "cotter outdated && cotter update network"},
	},
	"cotter install": {
		{"The configuration in this directory.", "cotter install"},
		{"In CI: exactly what the lock says, or a failure.", "cotter install --locked"},
		{"All root modules of a repository.", "cotter install --recursive"},
		{"Lock the providers for the build server too.", "cotter install --platform linux_amd64"},
	},
	"cotter init": {
		{"Install, and then run init of tofu or terraform.", "cotter init"},
		{"Pass arguments to the tool.", "cotter init envs/prod -- -upgrade"},
	},
	"cotter lock": {
		{"Lock the providers for two more platforms.", "cotter lock --platform linux_amd64 --platform darwin_arm64"},
		{"In CI: fail if the lock is not up to date.", "cotter lock --check"},
		{"After tofu or terraform has dropped the module blocks: put them back, and change nothing else.", "cotter lock --offline"},
	},
	"cotter verify": {
		{"Compare the installed files with the lock.", "cotter verify"},
		{"Ask the origins as well: has a tag moved?", "cotter verify --remote"},
		{"Write findings for programs.", "cotter verify --recursive --json"},
	},
	"cotter update": {
		{"Update everything that the constraints allow.", "cotter update"},
		{"Update one module call and one provider.", "cotter update network.subnets hashicorp/aws"},
		{"Select a version, which need not be the newest.", "cotter update network --to 3.19.0"},
		{"Write newer tags into the configuration.", "cotter update --edit"},
	},
	"cotter outdated": {
		{"List all calls, including those that are up to date.", "cotter outdated --all"},
	},
	"cotter diff": {
		{"What has changed since the last commit, and what does it break?", "cotter diff"},
		{"Compare only the locks, without looking into packages.", "cotter diff --locks-only v1.4.0"},
		{"A table for a pull request, of all root modules.", "cotter diff --recursive --markdown origin/main HEAD"},
		{"A page for reviewers.", "cotter diff --out changes.html v1.4.0"},
	},
	"cotter tree": {
		{"Each module below the module that calls it.", "cotter tree"},
		{"Which calls need this module, or which modules this provider?", "cotter tree hashicorp/aws"},
		{"Who uses this module in all root modules, and in which version?", "cotter tree --recursive terraform-aws-modules/vpc/aws"},
		{"Who confirms each package, and since when.", "cotter tree --evidence"},
		{"A page for the browser.", "cotter tree --out modules.html"},
	},
	"cotter sbom": {
		{"A CycloneDX document of one project.", "cotter sbom --out bom.json"},
		{"Of all root modules of a repository.", "cotter sbom --recursive --out bom.json"},
	},
	"cotter cache": {
		{"How large is the cache?", "cotter cache size"},
		{"Remove packages that have not been used for a month.", "cotter cache clean --older-than 30d"},
	},
	"cotter cache dir": {
		{"Keep the cache between CI runs.", `echo "path=$(cotter cache dir)" >> "$GITHUB_OUTPUT"`},
	},
	"cotter cache size":   {{"The size of each part.", "cotter cache size"}},
	"cotter cache verify": {{"Hash everything again.", "cotter cache verify"}},
	"cotter cache clean": {
		{"Remove packages that have not been used for a month.", "cotter cache clean --older-than 30d"},
		{"Remove everything, and name the projects that have to be installed again.", "cotter cache clean --all"},
	},
	"cotter cache key": {
		{"The key of a CI cache.", `echo "key=$(cotter cache key)" >> "$GITHUB_OUTPUT"`},
	},
	"cotter bundle": {
		{"Write the locked packages to a file for a machine without a network.", "cotter bundle create --out locked.tar"},
		{"Install from the file on that machine.", "cotter install --bundle locked.tar"},
	},
	"cotter bundle create": {
		{"All root modules of a repository.", "cotter bundle create --recursive --out locked.tar"},
		{"For machines of another platform.", "cotter bundle create --out locked.tar --platform linux_arm64"},
	},
	"cotter bundle verify": {
		{"Is the bundle complete and unchanged?", "cotter bundle verify locked.tar"},
	},
	"cotter bundle import": {
		{"Add the packages of the bundle to the cache.", "cotter bundle import locked.tar"},
	},
	"cotter mirror": {
		{"Store the locked packages.", "cotter mirror push oci://registry.example.com/modules"},
		{"Install from the mirror.", "cotter install --mirror oci://registry.example.com/modules"},
	},
	"cotter mirror push": {
		{"All root modules of a repository.", "cotter mirror push --recursive oci://registry.example.com/modules"},
	},
	"cotter mirror status": {
		{"What does the mirror lack?", "cotter mirror status oci://registry.example.com/modules"},
	},
	"cotter mirror verify": {
		{"Does the mirror match the lock?", "cotter mirror verify oci://registry.example.com/modules"},
	},
	"cotter doctor": {
		{"Show what an installation in this directory depends on.", "cotter doctor"},
		{"Show the same for another root module, without asking any host.", "cotter doctor envs/prod --offline"},
		{"Write a report for an issue. It contains no secrets.", "cotter doctor --json > doctor.json"},
	},
	"cotter demo": {{"Needs neither a network nor a configuration.", "cotter demo"}},
	"cotter completion": {
		{"For bash, in ~/.bashrc.", "source <(cotter completion bash)"},
		{"For zsh, in ~/.zshrc after compinit.", "source <(cotter completion zsh)"},
		{"For fish.", "cotter completion fish > ~/.config/fish/completions/cotter.fish"},
	},
}
