package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cotterpin/cotter"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/cmd/cotter/internal/cli"
	"github.com/cotterpin/cotter/config"
	"github.com/cotterpin/cotter/internal/procgroup"
	"github.com/cotterpin/cotter/policy"
)

// request returns the request for the project in --chdir, from the flags, the environment
// and the project's settings.
func request(cmd *cli.Invocation, env func(string) string) (cotter.Request, error) {
	req, err := flagRequest(cmd, env)
	if err != nil {
		return req, err
	}
	return applySettings(cmd, req)
}

// flagRequest is request without the project's settings.
func flagRequest(cmd *cli.Invocation, env func(string) string) (cotter.Request, error) {
	dialect, err := cotter.ParseDialect(cmd.String("for"))
	if err != nil {
		return cotter.Request{}, usageError{err}
	}
	req := cotter.Request{
		Dir:      cmd.String("chdir"),
		DataDir:  env("TF_DATA_DIR"),
		LockFile: cmd.String("lock-file"),
		Dialect:  dialect,
		Tools:    tools(env),
		DryRun:   cmd.Bool("dry-run"),

		AcceptUnreachable: modulePaths(cmd.Strings("accept-unreachable")),

		KeepStateAddresses: env("OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION") == "0",
	}
	return req, setInputs(cmd, env, &req)
}

// tools returns the stock tools that PATH contains.
func tools(env func(string) string) []cotter.Dialect {
	var found []cotter.Dialect
	for _, tool := range []cotter.Dialect{cotter.DialectOpenTofu, cotter.DialectTerraform} {
		if procgroup.Find([]string{"PATH=" + env("PATH")}, tool.String()) != "" {
			found = append(found, tool)
		}
	}
	return found
}

// configFlags returns the flags of every command that reads configuration, followed by more.
// The flags have the same names as in stock tools.
func configFlags(more ...*cli.Flag) []*cli.Flag {
	return projectFlags(append([]*cli.Flag{
		{Name: "var", Type: cli.String, Usage: "set a variable that a source or a version depends on, as `NAME=VALUE`", Check: checkAssignment},
		{Name: "var-file", Type: cli.String, Usage: "set the variables in `FILE`"},
		{Name: "test-directory", Type: cli.String, Usage: "look for tests in `DIR`; their modules are installed too", Default: "tests"},
		{Name: "allow-file-reads", Usage: "let sources and versions depend on files outside of the git repository, as in file(\"/etc/x\")"},
	}, more...)...)
}

// parseVariable parses a value of the flag -var or -var-file.
func parseVariable(flag, value string) (config.Variable, error) {
	if flag == "var-file" {
		return config.Variable{File: value}, nil
	}
	name, value, ok := strings.Cut(value, "=")
	if name = strings.TrimSpace(name); !ok || name == "" {
		return config.Variable{}, fmt.Errorf("-var takes NAME=VALUE, with a name and a \"=\"")
	}
	return config.Variable{Name: name, Value: value}, nil
}

// checkAssignment returns an error if a value of -var is not an assignment. The error does
// not contain the value, which may be secret.
func checkAssignment(value string) error {
	_, err := parseVariable("var", value)
	return err
}

// setInputs sets the inputs of a request from the flags and the environment: variables,
// workspace and test directory. If a variable has several values, the last one is used, so
// the values from the command line come last.
func setInputs(cmd *cli.Invocation, env func(string) string, req *cotter.Request) error {
	var err error
	if req.Inputs.Variables, err = variablesFromEnv(env); err != nil {
		return err
	}
	for _, given := range cmd.Given("var", "var-file") {
		set, err := parseVariable(given.Name, given.Value)
		if err != nil {
			return usageError{err}
		}
		req.Inputs.Variables = append(req.Inputs.Variables, set)
	}
	req.Inputs.TestDir = cmd.String("test-directory")
	req.Inputs.AllowFileReads = cmd.Bool("allow-file-reads")
	req.Inputs.Home = cliconfig.OSEnvironment().Home
	req.Inputs.Workspace = env("TF_WORKSPACE")
	req.Inputs.Environment = make(map[string]string)
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		if name, ok := strings.CutPrefix(name, "TF_VAR_"); ok {
			req.Inputs.Environment[name] = value
		}
	}
	return nil
}

// stockLockName is the lock that stock tools read and write.
const stockLockName = ".terraform.lock.hcl"

// applySettings returns a request with the settings of its project. Flags override the
// settings. It may be called again after req.Dir has changed.
func applySettings(cmd *cli.Invocation, req cotter.Request) (cotter.Request, error) {
	found, err := cotter.ReadSettings(req.Dir)
	if err != nil {
		return req, err
	}
	given := func(flag, setting string) string {
		if cmd.IsSet(flag) || setting == "" {
			return cmd.String(flag)
		}
		return setting
	}
	req.LockFile = given("lock-file", found.LockFile)
	if req.LockFile != "" && !filepath.IsLocal(req.LockFile) {
		// The library allows any place; a setting in a repository and a flag name one in the project.
		return req, usageError{fmt.Errorf("the lock file %q is not below the root module", req.LockFile)}
	}
	req.Vendor = given("vendor", found.Vendor)
	if req.Dialect, err = cotter.ParseDialect(given("for", found.For)); err != nil {
		return req, usageError{err}
	}
	if name := given("layout", found.Layout); name != "" {
		if req.Layout, err = layout(name); err != nil {
			return req, err
		}
	}
	req.Submodules = cmd.Bool("submodules")
	if found.Submodules != nil && !cmd.IsSet("submodules") {
		req.Submodules = *found.Submodules
	}
	if req.Providers != nil && !cmd.IsSet("platform") {
		providers := *req.Providers
		providers.Platforms = found.Platforms
		req.Providers = &providers
	}
	return req, nil
}

// secondLockError reports that a run would create a second lock next to the project's
// existing one, because its settings differ from those of earlier runs.
type secondLockError struct {
	existing, other string
}

func (e *secondLockError) Error() string {
	return fmt.Sprintf("the modules are locked in %s, but this run would lock them in %s, which has no module entries", e.existing, e.other)
}

// checkSecondLock returns an error if a run would create a second lock in a project whose
// settings name a lock file. This happens if a flag names another file than the settings, or
// if the settings name another file than in earlier runs.
func checkSecondLock(req cotter.Request) error {
	found, err := cotter.ReadSettings(req.Dir)
	if err != nil || found.LockFile == "" {
		return err
	}
	name := func(lock string) string {
		if filepath.IsAbs(lock) {
			return filepath.Clean(lock)
		}
		return filepath.Join(req.Dir, lock)
	}
	own := cmp.Or(req.LockFile, stockLockName)
	if _, err := os.Lstat(name(own)); err == nil && locksModules(name(own)) {
		return nil
	}
	for _, other := range slices.Compact([]string{found.LockFile, stockLockName}) {
		if name(other) != name(own) && locksModules(name(other)) {
			return &secondLockError{other, own}
		}
	}
	return nil
}

// locksModules reports whether a file is a lock that has module entries.
func locksModules(name string) bool {
	if _, err := os.Lstat(name); err != nil {
		return false
	}
	lock, err := readLock(name)
	return err == nil && len(lock.Modules()) > 0
}

// policyFlags returns the flags of every command that applies a policy. Their rules apply in
// addition to the policy in the project's file.
func policyFlags() []*cli.Flag {
	return []*cli.Flag{
		{Name: "policy", Type: cli.String, Usage: "apply the policy in `FILE` instead of the project's cotter.hcl", Env: "COTTER_POLICY"},
		{Name: "allow-source", Type: cli.Strings, Usage: "allow modules only from `HOST/PATH` and below; can be repeated"},
		{Name: "deny-source", Type: cli.Strings, Usage: "allow no modules from `HOST/PATH` and below; can be repeated"},
		{Name: "deny-branches", Usage: "refuse git sources that name a branch or no ref"},
		{Name: "require-version", Type: cli.String, Usage: "refuse calls without a version constraint (`HOW` is range), or without an exact version (exact)"},
		{Name: "deny-credentials", Usage: "refuse source addresses that contain credentials"},
		minAgeFlag(),
	}
}

func minAgeFlag() *cli.Flag {
	return &cli.Flag{Name: "min-age", Type: cli.Int, Usage: "skip versions published less than `DAYS` days ago, if the origin reports dates"}
}

// setPolicy reads the flags of policyFlags into a request.
func setPolicy(cmd *cli.Invocation, req *cotter.Request) (err error) {
	p := &policy.Policy{DenyBranches: cmd.Bool("deny-branches"), DenyCredentials: cmd.Bool("deny-credentials")}
	if p.Allow, err = patterns(cmd, "allow-source"); err != nil {
		return err
	}
	if p.Deny, err = patterns(cmd, "deny-source"); err != nil {
		return err
	}
	switch how := cmd.String("require-version"); how {
	case "":
	case "range":
		p.Versions = policy.VersionsRange
	case "exact":
		p.Versions = policy.VersionsExact
	default:
		return usageError{fmt.Errorf("--require-version takes \"range\" or \"exact\", got %q", how)}
	}
	days := cmd.Int("min-age")
	if days < 0 || days > policy.MaxAgeDays {
		return usageError{fmt.Errorf("--min-age takes a number of days from 0 to %d, got %d", policy.MaxAgeDays, days)}
	}
	p.MinAge = time.Duration(days) * 24 * time.Hour
	req.Policies = []*policy.Policy{p}
	if req.PolicyFile = cmd.String("policy"); req.PolicyFile != "" && !filepath.IsAbs(req.PolicyFile) {
		req.PolicyFile = filepath.Join(cmd.String("chdir"), req.PolicyFile)
	}
	return nil
}

func patterns(cmd *cli.Invocation, flag string) ([]policy.Pattern, error) {
	var found []policy.Pattern
	for _, text := range cmd.Strings(flag) {
		pattern, err := policy.ParsePattern(text)
		if err != nil {
			return nil, usageError{fmt.Errorf("--%s: %w", flag, err)}
		}
		found = append(found, pattern)
	}
	return found, nil
}
