package main

// example is a command line that help shows, and what it is for.
type example struct{ what, command string }

// examples are those of each command. Each command has one.
var examples = map[string][]example{
	"cotter": {
		{"Install everything that the configuration needs, and write the lock.", "cotter install"},
		{"In CI: install exactly what the lock says.", "cotter install --locked"},
		{"Are the installed files still those of the lock?", "cotter verify"},
		{"What is newer? Update one module call.", "cotter outdated && cotter update network"},
	},
	"cotter install": {
		{"The configuration in this directory.", "cotter install"},
		{"In CI: exactly what the lock says, or a failure.", "cotter install --locked"},
		{"All root modules of a repository.", "cotter install --recursive"},
		{"Lock the providers for the build server too.", "cotter install --platform linux_amd64"},
	},
	"cotter init": {
		{"Install, and then run init of tofu or terraform.", "cotter init"},
		{"With arguments for the tool.", "cotter init envs/prod -- -upgrade"},
	},
	"cotter lock": {
		{"Lock the providers for two more platforms.", "cotter lock --platform linux_amd64 --platform darwin_arm64"},
		{"In CI: fail if the lock is not up to date.", "cotter lock --check"},
	},
	"cotter verify": {
		{"The installed files.", "cotter verify"},
		{"The origins as well: has a tag moved?", "cotter verify --remote"},
		{"Findings for code scanning.", "cotter verify --recursive --sarif cotter.sarif"},
	},
	"cotter update": {
		{"Everything that the constraints allow.", "cotter update"},
		{"One module call and one provider.", "cotter update network.subnets hashicorp/aws"},
		{"To a version that need not be the newest.", "cotter update network --to 3.19.0"},
		{"Write newer tags into the configuration.", "cotter update --edit"},
	},
	"cotter outdated": {
		{"What has newer versions, in Markdown for a pull request?", "cotter outdated --all"},
		{"Leave out what was published in the last week.", "cotter outdated --min-age 7"},
	},
	"cotter diff": {
		{"What has changed since the last commit, and what does it break?", "cotter diff HEAD"},
		{"Compare the locks alone, without looking into packages.", "cotter diff --locks-only v1.4.0"},
		{"A table for a pull request.", "cotter diff --markdown origin/main HEAD"},
	},
	"cotter why": {
		{"Which calls need this module?", "cotter why network.subnets"},
		{"Which modules require this provider?", "cotter why hashicorp/aws"},
	},
	"cotter restore": {
		{"After tofu or terraform has dropped the module blocks.", "cotter restore"},
	},
	"cotter merge-lock": {
		{"As git runs it.", "cotter merge-lock base.hcl ours.hcl theirs.hcl"},
	},
	"cotter list": {
		{"The modules, with their versions and directories.", "cotter list"},
		{"The providers, as JSON.", "cotter list --providers --json"},
	},
	"cotter tree": {
		{"The modules, each below the one that calls it.", "cotter tree"},
	},
	"cotter graph": {
		{"The module tree, with what was changed since it was installed.", "cotter graph"},
		{"A page for the browser, with newer versions and moved tags.", "cotter graph --outdated --remote --out modules.html"},
		{"What has changed since a release?", "cotter graph --diff v1.4.0 --out changes.html"},
		{"A picture for the README, in Markdown.", "cotter graph --format mermaid"},
	},
	"cotter sbom": {
		{"A CycloneDX document of one project.", "cotter sbom --out bom.json"},
		{"Of all root modules of a repository.", "cotter sbom --recursive --out bom.json"},
	},
	"cotter cache": {
		{"How much is in it?", "cotter cache size"},
		{"Remove what was not used for a month.", "cotter cache clean --older-than 30d"},
	},
	"cotter cache dir": {
		{"Keep the cache between CI runs.", `echo "path=$(cotter cache dir)" >> "$GITHUB_OUTPUT"`},
	},
	"cotter cache size":   {{"The size of each part.", "cotter cache size"}},
	"cotter cache verify": {{"Hash everything again.", "cotter cache verify"}},
	"cotter cache clean": {
		{"Remove what was not used for a month.", "cotter cache clean --older-than 30d"},
	},
	"cotter cache key": {
		{"The key of a CI cache.", `echo "key=$(cotter cache key)" >> "$GITHUB_OUTPUT"`},
	},
	"cotter vendor": {
		{"Write the modules to the directory that cotter.hcl names.", "cotter vendor"},
		{"To a directory beside the configuration.", "cotter vendor --vendor vendor/modules"},
		{"Of all root modules of a repository.", "cotter vendor --recursive"},
	},
	"cotter bundle": {
		{"Carry what is locked to a machine without a network.", "cotter bundle create --out locked.tar"},
		{"Install from it there.", "cotter install --bundle locked.tar"},
	},
	"cotter bundle create": {
		{"All root modules of a repository.", "cotter bundle create --recursive --out locked.tar"},
		{"For machines of another platform.", "cotter bundle create --out locked.tar --platform linux_arm64"},
	},
	"cotter bundle verify": {
		{"Is it complete and unchanged?", "cotter bundle verify locked.tar"},
	},
	"cotter bundle import": {
		{"Put its packages into the cache.", "cotter bundle import locked.tar"},
	},
	"cotter mirror": {
		{"Store what the lock names.", "cotter mirror push oci://registry.example.com/modules"},
		{"Install from it.", "cotter install --mirror oci://registry.example.com/modules"},
	},
	"cotter mirror push": {
		{"All root modules of a repository.", "cotter mirror push --recursive oci://registry.example.com/modules"},
		{"Sign what is pushed.", "cotter mirror push --sign-key mirror.key oci://registry.example.com/modules"},
	},
	"cotter mirror status": {
		{"What does it not have?", "cotter mirror status oci://registry.example.com/modules"},
	},
	"cotter mirror verify": {
		{"Is it what the lock says?", "cotter mirror verify oci://registry.example.com/modules"},
	},
	"cotter doctor": {
		{"The project in this directory, and this machine.", "cotter doctor"},
		{"Another root module, without asking any host.", "cotter doctor envs/prod --offline"},
		{"For a report in an issue: it has no secrets.", "cotter doctor --json > doctor.json"},
	},
	"cotter demo":    {{"No network and no configuration is needed.", "cotter demo"}},
	"cotter version": {{"For scripts.", "cotter version --json"}},
	"cotter completion": {
		{"For bash, in ~/.bashrc.", "source <(cotter completion bash)"},
		{"For zsh, in ~/.zshrc behind compinit.", "source <(cotter completion zsh)"},
		{"For fish.", "cotter completion fish > ~/.config/fish/completions/cotter.fish"},
	},
	"cotter man": {
		{"Read the page of a command.", "cotter man install | man -l -"},
		{"Write all pages into a directory.", "cotter man --out /usr/local/share/man/man1"},
	},
}
