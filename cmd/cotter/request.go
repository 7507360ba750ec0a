package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/cliconfig"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/internal/cli/advice"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/process/procgroup"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/spf13/pflag"
)

// request is what the command line, the environment and the settings say of a run.
type request struct {
	installer.Project
	installer.InstallOptions
	// stock are the arguments for stock tools in the environment.
	stock stockArguments
	// edits are what a dry run does not write into the configurations of projects, by their directories.
	edits map[string][]installer.Pin
}

// newRequest returns the request for the project in --chdir.
func newRequest(cmd *invocation, env func(string) string) (request, error) {
	req, err := flagRequest(cmd, env)
	if err != nil {
		return req, err
	}
	return applySettings(cmd, env, req)
}

// flagRequest is newRequest without the project's settings.
func flagRequest(cmd *invocation, env func(string) string) (request, error) {
	dialect, err := config.ParseDialect(cmd.String("for"))
	if err != nil {
		return request{}, usageError{err}
	}
	req := request{Project: installer.Project{Dir: cmd.String("chdir"), DataDir: env("TF_DATA_DIR"), Dialect: dialect, Tools: tools(env), PolicyFiles: policyFiles(cmd, env)}, InstallOptions: installer.InstallOptions{DryRun: cmd.Bool("dry-run"), AcceptUnreachable: modulePaths(cmd.Strings("accept-unreachable"))}}
	if req.Unmanaged, err = reattached(env); err != nil {
		return req, err
	}
	if req.stock, err = argumentsFromEnv(env); err != nil {
		return req, err
	}
	setInputs(cmd, env, &req)
	return req, nil
}

func tools(env func(string) string) []installer.Dialect {
	var found []installer.Dialect
	for _, tool := range []installer.Dialect{installer.DialectOpenTofu, installer.DialectTerraform} {
		if procgroup.Find([]string{"PATH=" + env("PATH")}, tool.String()) != "" {
			found = append(found, tool)
		}
	}
	return found
}

// configFlags are for commands that read configuration, named as in stock tools, and more.
func configFlags(more ...addFlag) []addFlag {
	return projectFlags(append([]addFlag{
		inputFlags(),
		toggle("allow-file-reads", "let sources and versions depend on files outside of the git repository, as in file(\"/etc/x\")"),
	}, more...)...)
}

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

// inputValue is the value of the flags -var and -var-file, whose order counts.
type inputValue struct {
	name string
	all  *[]config.Variable
}

func inputFlags() addFlag {
	return func(set *pflag.FlagSet) {
		all := new([]config.Variable)
		set.Var(&inputValue{"var", all}, "var", "set a variable that a source or a version depends on, as `NAME=VALUE`")
		set.Var(&inputValue{"var-file", all}, "var-file", "set the variables in `FILE`")
	}
}

// Set does not put the value, which may be secret, into its error.
func (v *inputValue) Set(text string) error {
	parsed, err := parseVariable(v.name, text)
	if err == nil {
		*v.all = append(*v.all, parsed)
	}
	return err
}

func (v *inputValue) String() string { return "" }
func (v *inputValue) Type() string   { return "input" }

// setInputs puts the values from the command line last, because the last value of a variable is used.
func setInputs(cmd *invocation, env func(string) string, req *request) {
	req.Inputs.Variables = slices.Concat(req.stock.variables, inputsOf(cmd.Flag("var")))
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
}

// projectsIn returns the projects in directories, with their settings and what prepare adds. failures has an
// *installer.ProjectError at the index of each unusable one.
func projectsIn(cmd *invocation, env func(string) string, req request, dirs []string, prepare func(request) (request, error)) (projects []installer.Project, failures []error) {
	projects, failures = make([]installer.Project, len(dirs)), make([]error, len(dirs))
	for i, dir := range dirs {
		one := req
		one.Dir, one.Edited = dir, req.edits[dir]
		one, err := applySettings(cmd, env, one)
		if err == nil && prepare != nil {
			one, err = prepare(one)
		}
		if err != nil {
			failures[i] = &installer.ProjectError{Dir: dir, Err: err}
		}
		projects[i] = one.Project
	}
	return projects, failures
}

// applySettings adds the settings of the project in req.Dir. It may be called again for another one.
func applySettings(cmd *invocation, env func(string) string, req request) (request, error) {
	found, err := repository.ReadSettings(env, req.Dir)
	if err != nil {
		return req, err
	}
	given := func(flag, setting string) string {
		if cmd.IsSet(flag) || setting == "" {
			return cmd.String(flag)
		}
		return setting
	}
	req.LockFile = found.LockFile
	req.Submodules = found.Submodules != nil && *found.Submodules
	req.Inputs.TestDir = given("test-directory", cmp.Or(req.stock.testDir, found.TestDirectory))
	if req.Dialect, err = config.ParseDialect(given("for", found.For)); err != nil {
		return req, usageError{err}
	}
	if req.Layout, err = layout(env, found.Layout); err != nil {
		return req, err
	}
	if !cmd.IsSet("platform") {
		req.Platforms = slices.DeleteFunc(slices.Clone(found.Platforms), func(p addrs.Platform) bool { return p == addrs.CurrentPlatform() })
	}
	return req, nil
}

// layout is that of COTTER_LAYOUT or the project's. Otherwise what a build server installs can be carried to the
// next job, to an image or to a scanner, which do not have its cache.
func layout(env func(string) string, project string) (installer.Layout, error) {
	const setting = "COTTER_LAYOUT"
	usual := installer.LayoutLinks
	if onBuildServer(env) {
		usual = installer.LayoutPortable
	}
	return chosen(setting, cmp.Or(env(setting), project), map[string]installer.Layout{"": usual, "link": installer.LayoutLinks, "copy": installer.LayoutCopy})
}

// checkSecondLock refuses to make a second lock: the project's has no module entries, but another one in its
// directory has, because the setting lock_file is not that of earlier runs.
func checkSecondLock(ctx context.Context, req request) error {
	own := cmp.Or(req.LockFile, lockfile.Name)
	entries, err := os.ReadDir(cmp.Or(req.Dir, "."))
	if err != nil {
		return nil // the run returns the error
	}
	for _, entry := range entries {
		other := entry.Name()
		if strings.HasSuffix(other, ".lock.hcl") && other != filepath.Clean(own) && locksModules(ctx, req.Dir, other) && !locksModules(ctx, req.Dir, own) {
			err := fmt.Errorf("the modules are locked in %s, but this run would lock them in %s, which has no module entries", other, own)
			return advice.Hinted(err, "Rename the lock, or set `lock_file` in the settings block of cotter.hcl to its name.")
		}
	}
	return nil
}

func locksModules(ctx context.Context, dir, name string) bool {
	lock, err := installer.ReadLock(ctx, installer.Project{Dir: dir, LockFile: name})
	return err == nil && len(lock.Modules()) > 0
}

func policyFlag() addFlag {
	return func(set *pflag.FlagSet) {
		set.StringArray("policy", nil, "also apply the policy in `FILE`; can be repeated, and all must allow")
	}
}

// policyFiles returns the files of COTTER_POLICY, which apply in any case, and of --policy.
func policyFiles(cmd *invocation, env func(string) string) []string {
	files := filepath.SplitList(env("COTTER_POLICY"))
	if given, err := cmd.Flags().GetStringArray("policy"); err == nil { // the command has the flag
		files = append(files, given...)
	}
	for i, name := range files {
		if !filepath.IsAbs(name) {
			files[i] = filepath.Join(cmd.String("chdir"), name)
		}
	}
	return files
}
