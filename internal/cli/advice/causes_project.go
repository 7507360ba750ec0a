package advice

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/net/hostname"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
	"github.com/cotterpin/cotter/lockfile"
)

func reworded(err, wrapped error, text string) string {
	return strings.Replace(err.Error(), wrapped.Error(), text, 1)
}

// causeOf also finds causes in the project's directory, and for which hosts others may be meant. The remedies are nil if
// those of the error's type apply.
func (r *Run) causeOf(m Message) (*cause, []Remedy) {
	if m.err == nil {
		return r.conflict(m)
	}
	found := causeOf(m.err)
	at := lookupIn(m.err)
	switch {
	case r.Bundle && errors.Is(m.err, installer.ErrOffline):
		return &cause{text: "neither in the bundle nor in the cache"}, do("Make a new bundle with `cotter bundle create`, or run the command once without `--bundle`.")
	case at.name != nameKnown:
		return found, unresolvedRemedies(at, func() []string { return r.knownHosts(m) })
	case found != nil:
		return found, nil
	}
	dir := r.SourceDir(m)
	if module, ok := errors.AsType[*installer.ModuleError](m.err); ok {
		if found, near := missingDirectory(dir, module); found != nil {
			return found, near
		}
		return nil, do(meantAddress(dir, module))
	}
	if locked, ok := errors.AsType[*installer.LockedError](m.err); ok && !locked.Lost && locked.LockFile != "" && view.Absent(view.Below(dir, locked.LockFile)) {
		return r.noLock(dir, locked)
	}
	missing, ok := errors.AsType[*fs.PathError](m.err)
	switch {
	case ok && errors.Is(missing, fs.ErrNotExist):
		text := reworded(m.err, missing, view.ShownPath("", missing.Path)+" does not exist")
		near := view.Nearest(filepath.Base(missing.Path), entriesIn(filepath.Dir(missing.Path)))
		return &cause{text: text}, do(view.DidYouMean(near))
	case ok && errors.Is(missing, syscall.ENOTDIR):
		return &cause{text: view.ShownPath("", fileIn(missing.Path)) + " is not a directory"}, nil
	}
	return nil, nil
}

func (r *Run) noLock(dir string, locked *installer.LockedError) (*cause, []Remedy) {
	kept := filepath.Join(cmp.Or(r.Env("TF_DATA_DIR"), ".terraform"), "modules", ".cotter", "lock.hcl")
	remedies := do(commitLock)
	if locked.Earlier != "" || !view.Absent(view.Below(dir, kept)) { // git has it, or an installation has kept a copy
		remedies = append(remedies, do(restoreEntries)...)
	}
	return &cause{text: fmt.Sprintf("There is no %s.", view.ShownPath(dir, locked.LockFile))}, remedies
}

// conflict is for a line of the configuration in which git has left a marker of a conflict.
func (r *Run) conflict(m Message) (*cause, []Remedy) {
	if m.File == "" || view.IsLockName(m.At.Filename) {
		return nil, nil
	}
	text, _ := view.ReadQuotable(r.SourceDir(m), m.At.Filename)
	line, _, _ := view.SourceLine(text, m.At)
	if !conflictMarker().MatchString(line) {
		return nil, nil
	}
	return &cause{text: "git has left a merge conflict in the file"}, do("Keep one side of each conflict, and remove the lines with the markers.")
}

var conflictMarker = lazyregexp.New(`^(<{7}|={7}|>{7})( |$)`)

// missingDirectory is for a local source address without directory.
func missingDirectory(dir string, err *installer.ModuleError) (*cause, []Remedy) {
	isLocal := strings.HasPrefix(err.Source, "./") || strings.HasPrefix(err.Source, "../")
	if !isLocal || err.Dir == "" || filepath.IsAbs(err.Dir) || !errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	parent, name := path.Split(path.Clean(err.Source))
	if !strings.HasPrefix(parent, ".") {
		parent = "./" + parent
	}
	near := view.Nearest(name, entriesIn(filepath.Join(dir, filepath.FromSlash(err.Dir), filepath.FromSlash(parent))))
	return &cause{text: err.Source + " does not exist"}, do(view.DidYouMean(lists.Map(near, func(entry string) string { return strconv.Quote(parent + entry) })))
}

// subdirInRef matches an address whose subdirectory is behind the arguments, where it is a part of the ref.
var subdirInRef = lazyregexp.New(`^([^?]+)\?(.*\bref=[^&]*?)//([^&?]+)(&.*)?$`)

// meantAddress says how to write the source address that was meant, or returns "".
func meantAddress(dir string, err *installer.ModuleError) string {
	if err.Dir != "" && !filepath.IsAbs(err.Dir) && !strings.HasPrefix(err.Source, ".") && err.Source != "" && fs.ValidPath(err.Source) &&
		view.IsDir(filepath.Join(dir, filepath.FromSlash(err.Dir), filepath.FromSlash(err.Source))) {
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
	if slices.ContainsFunc(parts, func(part string) bool {
		return !view.PlainWord().MatchString(part) || strings.ContainsAny(part, ":@%+=")
	}) {
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

var publicHosts = []string{
	"registry.opentofu.org", "registry.terraform.io", "app.terraform.io", "github.com", "gitlab.com", "bitbucket.org", "ghcr.io", "codeberg.org",
}

// knownHosts returns hosts to suggest for a misspelled one.
func (r *Run) knownHosts(m Message) []string {
	hosts := slices.Clone(publicHosts)
	lock, err := repository.ReadLock(context.Background(), r.Env, r.SourceDir(m))
	if err != nil {
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
	return hostname.URLIn(entry.Source.String()).Host
}
