package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
)

// refusal says that a rule, such as "cotter.hcl:2, allow_sources", refuses a module or provider.
type refusal struct{ rule, reason string }

// refusalOf returns nil if the error of a module or a provider has another cause.
func refusalOf(err error) *refusal {
	violation, ok := errors.AsType[*policy.Violation](err)
	if !ok {
		return nil
	}
	if module, ok := errors.AsType[*installer.ModuleError](err); ok {
		err = module.Err
	} else if provider, ok := errors.AsType[*installer.ProviderError](err); ok {
		err = provider.Err
	} else {
		return nil
	}
	reason := reworded(err, violation, violation.Reason)
	return &refusal{rule: violation.Rule(), reason: strings.ReplaceAll(reason, "\n", "; ")}
}

func reworded(err, wrapped error, text string) string {
	return strings.Replace(err.Error(), wrapped.Error(), text, 1)
}

// refusedTogether returns a headline and a line for each of several things that one rule refuses.
func refusedTogether(group []message) (headline string, lines []string, ok bool) {
	if len(group) < 2 || group[0].refusal == nil {
		return "", nil, false
	}
	rule, reason := group[0].refusal.rule, group[0].refusal.reason
	modules, same := 0, true
	for _, m := range group {
		same = same && m.refusal.reason == reason
		if m.module != "" {
			modules++
		}
	}
	if same {
		headline = fmt.Sprintf("the policy does not allow it: %s (%s)", reason, rule)
	} else {
		headline = fmt.Sprintf("the policy does not allow %s (%s)", countBoth(modules, "module", len(group)-modules, "provider"), rule)
	}
	for _, m := range group {
		line := m.name()
		if !same {
			line += ": " + m.refusal.reason
		}
		lines = append(lines, line)
	}
	return headline, lines, true
}

// causeOf also finds causes in the project's directory, and for which hosts others may be meant. The remedies are nil if
// those of the error's type apply.
func (o *output) causeOf(m message) (*cause, []remedy) {
	if m.err == nil {
		return o.conflict(m)
	}
	found := causeOf(m.err)
	at := lookupIn(m.err)
	switch {
	case o.bundle && errors.Is(m.err, installer.ErrOffline):
		return &cause{text: "neither in the bundle nor in the cache"}, do("Make a new bundle with `cotter bundle create`, or run the command once without `--bundle`.")
	case at.name != nameKnown:
		return found, unresolvedRemedies(at, func() []string { return o.knownHosts(m) })
	case found != nil:
		return found, nil
	}
	dir := o.sourceDir(m)
	if module, ok := errors.AsType[*installer.ModuleError](m.err); ok {
		if found, near := missingDirectory(dir, module); found != nil {
			return found, near
		}
		return nil, do(meantAddress(dir, module))
	}
	if locked, ok := errors.AsType[*installer.LockedError](m.err); ok && !locked.Lost && locked.LockFile != "" && absent(below(dir, locked.LockFile)) {
		return o.noLock(dir, locked)
	}
	missing, ok := errors.AsType[*fs.PathError](m.err)
	switch {
	case ok && errors.Is(missing, fs.ErrNotExist):
		text := reworded(m.err, missing, shownPath("", missing.Path)+" does not exist")
		near := nearest(filepath.Base(missing.Path), entriesIn(filepath.Dir(missing.Path)))
		return &cause{text: text}, do(didYouMean(near))
	case ok && errors.Is(missing, syscall.ENOTDIR):
		return &cause{text: shownPath("", fileIn(missing.Path)) + " is not a directory"}, nil
	}
	return nil, nil
}

func (o *output) noLock(dir string, locked *installer.LockedError) (*cause, []remedy) {
	kept := filepath.Join(cmp.Or(o.env("TF_DATA_DIR"), ".terraform"), "modules", ".cotter", "lock.hcl")
	remedies := do(commitLock)
	if locked.Earlier != "" || !absent(below(dir, kept)) { // git has it, or an installation has kept a copy
		remedies = append(remedies, do(restoreEntries)...)
	}
	return &cause{text: fmt.Sprintf("There is no %s.", shownPath(dir, locked.LockFile))}, remedies
}

// conflict is for a line of the configuration in which git has left a marker of a conflict.
func (o *output) conflict(m message) (*cause, []remedy) {
	if m.file == "" || isLockName(m.at.Filename) {
		return nil, nil
	}
	text, _ := readQuotable(o.sourceDir(m), m.at.Filename)
	line, _, _ := sourceLine(text, m.at)
	if !conflictMarker().MatchString(line) {
		return nil, nil
	}
	return &cause{text: "git has left a merge conflict in the file"}, do("Keep one side of each conflict, and remove the lines with the markers.")
}

var conflictMarker = lazyRegexp(`^(<{7}|={7}|>{7})( |$)`)

// shownPath returns a path relative to the current directory, with slashes.
func shownPath(dir, name string) string {
	return filepath.ToSlash(below(dir, name))
}

// below joins name to dir unless it is absolute.
func below(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func absent(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// fileIn returns the part of a path that is not a directory, or else the path.
func fileIn(name string) string {
	for at := name; at != "." && at != "/"; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return at
		}
	}
	return name
}

// entriesIn leaves out hidden files.
func entriesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}

// missingDirectory is for a local source address without directory.
func missingDirectory(dir string, err *installer.ModuleError) (*cause, []remedy) {
	isLocal := strings.HasPrefix(err.Source, "./") || strings.HasPrefix(err.Source, "../")
	if !isLocal || err.Dir == "" || filepath.IsAbs(err.Dir) || !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	parent, name := path.Split(path.Clean(err.Source))
	if !strings.HasPrefix(parent, ".") {
		parent = "./" + parent
	}
	near := nearest(name, entriesIn(filepath.Join(dir, filepath.FromSlash(err.Dir), filepath.FromSlash(parent))))
	return &cause{text: err.Source + " does not exist"}, do(didYouMean(mapped(near, func(entry string) string { return strconv.Quote(parent + entry) })))
}

// subdirInRef matches an address whose subdirectory is behind the arguments, where it is a part of the ref.
var subdirInRef = lazyRegexp(`^([^?]+)\?(.*\bref=[^&]*?)//([^&?]+)(&.*)?$`)

// meantAddress says how to write the source address that was meant, or returns "".
func meantAddress(dir string, err *installer.ModuleError) string {
	if err.Dir != "" && !filepath.IsAbs(err.Dir) && !strings.HasPrefix(err.Source, ".") && err.Source != "" && fs.ValidPath(err.Source) &&
		isDir(filepath.Join(dir, filepath.FromSlash(err.Dir), filepath.FromSlash(err.Source))) {
		return fmt.Sprintf("Did you mean %q?", "./"+err.Source)
	}
	if parts := subdirInRef().FindStringSubmatch(err.Source); parts != nil && addrs.Redact(err.Source) == err.Source {
		return fmt.Sprintf("Write %q: the directory is before the arguments.", parts[1]+"//"+parts[3]+"?"+parts[2]+parts[4])
	}
	if invalid, ok := errors.AsType[*addrs.ParseError](err); ok && invalid.MaybeLocal {
		return registryHint(err.Source)
	}
	return ""
}

// registryHint is for an address without the system of the module, such as acme/network.
func registryHint(source string) string {
	const system = "aws"
	parts := strings.Split(source, "/")
	if slices.ContainsFunc(parts, func(part string) bool { return !plainWord().MatchString(part) || strings.ContainsAny(part, ":@%+=") }) {
		return ""
	}
	registry := fmt.Sprintf("Write %q, with the system of the module, if it is in a registry, or ", source+"/"+system)
	switch {
	case len(parts) == 2 && !strings.Contains(parts[0], "."):
		return registry + fmt.Sprintf("%q if it is a repository of GitHub.", "github.com/"+source)
	case len(parts) == 3 && strings.Contains(parts[0], "."):
		return registry + fmt.Sprintf("%q if it is a git repository.", "git::https://"+source+".git")
	}
	return ""
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

var publicHosts = []string{
	"registry.opentofu.org", "registry.terraform.io", "app.terraform.io", "github.com", "gitlab.com", "bitbucket.org", "ghcr.io", "codeberg.org",
}

// knownHosts returns hosts to suggest for a misspelled one.
func (o *output) knownHosts(m message) []string {
	hosts := slices.Clone(publicHosts)
	found, err := readSettings(o.env, o.sourceDir(m))
	if err != nil {
		return hosts
	}
	lock, err := readLock(below(o.sourceDir(m), cmp.Or(found.LockFile, stockLockName)))
	if err != nil || lock == nil {
		return hosts
	}
	for _, entry := range lock.Modules() {
		hosts = append(hosts, hostOfEntry(entry))
	}
	return hosts
}

func hostOfEntry(entry lockfile.Module) string {
	if registry, ok := entry.Source.(addrs.ModuleSourceRegistry); ok {
		return string(registry.Package.Host)
	}
	return urlIn(entry.Source.String()).Host
}
