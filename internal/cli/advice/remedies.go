package advice

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/hashicorp/hcl/v2"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/bundle"
	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/s3"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/config"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/limits"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/internal/cli/repository"
	"github.com/cotterpin/cotter/internal/cli/view"
	"github.com/cotterpin/cotter/internal/disk/pathsafe"
	"github.com/cotterpin/cotter/internal/net/httpx"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/policy"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// Remedy is what a user can do about an error. {dir} is the flags for the project's directory, if there are several, and
// those of the run that the command in front of it needs too. {lock} is the path of the lock, {keys} the keys of module calls or providers,
// {names} the same as a list in a sentence, and {accept} and {unreachable} an --accept-changed and an
// --accept-unreachable for each.
type Remedy struct {
	text    string
	project string
	again   func(command, rest, project string) string // see Run; it may be nil
	key     string                                     // "" if the text has no {keys}
}

// The errors of the library state facts; all advice is here and, for hosts and logins, in remedies_hosts.go.

// remedyTable says what to do about each type of error. The first row with a remedy is used, so a row for an
// error that wraps others is above theirs.
var remedyTable = append([]remedyRow{
	func(err error) []Remedy {
		if fullDisk(err) == "" {
			return nil
		}
		return do("Free some space there, for example with `cotter cache clean`, and run the command again.")
	},
	on(func(e hintedError) []Remedy { return do(e.hint) }),

	// Providers.
	within(func(_ *installer.ProviderError, e *getproviders.MissingPlatformError) []Remedy {
		return About(e.Platform.String(), "Use `cotter bundle create --platform {keys}` to make a bundle for it.")
	}),
	within(func(p *installer.ProviderError, e *config.UnknownProviderError) []Remedy {
		declare := func(other addrs.Provider) []Remedy {
			return do(fmt.Sprintf("Write `source = \"%s\"` for the provider %s in the required_providers of each module that should use %[1]s.", other.ForDisplay(), p.Provider.Type))
		}
		switch {
		case len(e.SameType) > 0:
			return declare(e.SameType[0])
		case e.Renamed != (addrs.Provider{}):
			return declare(e.Renamed)
		case len(p.RequiredBy) == 0:
			return do(pruneProvider)
		}
		return About(p.Provider.ForDisplay(), "Run `cotter tree{dir} {keys}` to see which modules require it.")
	}),
	within(func(p *installer.ProviderError, e *config.UnusableVersionError) []Remedy {
		switch {
		case e.Allowed && e.Unlisted:
			return About(p.Provider.ForDisplay(), selectAnother)
		case e.Allowed:
			return do(fmt.Sprintf("Write a constraint such as `version = \"%s\"` for %s in required_providers to select that version.", e.Other, p.Provider.ForDisplay()))
		}
		return nil
	}),
	on(func(e *getproviders.UnconfirmedError) []Remedy {
		if e.Evidence.Kind != evidence.Project {
			return nil
		}
		return do("To copy it to a bundle or a mirror nevertheless, use `--project-providers`: those who use that will trust it.")
	}),
	within(func(p *installer.ProviderError, e *getproviders.MismatchError) []Remedy {
		switch {
		case e.OtherPlatforms:
			return do(fmt.Sprintf(lockPlatform, addrs.CurrentPlatform()))
		case e.Locked:
			return About(p.Provider.ForDisplay(), LockProvider)
		}
		return do("Try again. If the error persists, tell the publisher of the provider.")
	}),

	// Policies and versions.
	on(func(e *policy.Violation) []Remedy {
		switch {
		case e.Argument == policy.WeakSignatures && e.Range.Filename == "":
			return do("If you accept the signature anyway, set `weak_provider_signatures = \"allow\"` in a policy of your own, and name it with `--policy`.")
		case e.Argument == "allow_sources":
			return do(fmt.Sprintf("If you trust the source, add it to `allow_sources` in %s.", e.Range.Filename))
		}
		return nil
	}),
	within(func(p *installer.ProviderError, _ *versions.DowngradeError) []Remedy {
		return About(p.Provider.ForDisplay(), allowDowngrade)
	}),
	within(func(m *installer.ModuleError, _ *versions.DowngradeError) []Remedy {
		return About(m.Path.String(), allowDowngrade)
	}),
	within(func(m *installer.ModuleError, e *installer.ConstraintError) []Remedy {
		if e.NotEdited || len(m.Path) > 1 {
			return do("Change the constraint first.")
		}
		return About(m.Path.String(), fmt.Sprintf("Run `cotter update{dir} {keys} --to %s --edit` to change the constraint too.", e.Version))
	}),
	on(func(e *installer.HostChangedError) []Remedy {
		other := installer.DialectTerraform
		if e.Dialect == other {
			other = installer.DialectOpenTofu
		}
		return do(fmt.Sprintf("Use `--for %s` to keep the registry, or `--for %s` to change it.", e.Dialect, other))
	}),

	on(func(e *getmodules.LimitError) []Remedy {
		setting := limits.Raise(e)
		if setting == "" {
			return nil
		}
		trusted := "the source"
		if e.Limit == getmodules.LimitRun {
			trusted = "the sources"
		}
		return do(fmt.Sprintf("If you trust %s, set the environment variable %s and run the command again.", trusted, setting))
	}),
	always[*installer.DialectError](nameTool),
	on(NoConfigurationError.Remedies),

	// Files of the project, and its git repository; the user's directories.
	on(func(e *pathsafe.ExposedError) []Remedy { return do(protect(e)) }),
	wraps(installer.ErrMetadata, "Use another path with `lock_file` in cotter.hcl or TF_DATA_DIR, or remove the link that points there."),
	on(func(e *repository.OwnerError) []Remedy {
		if e.Config != nil {
			return nil
		}
		return About(e.Top, "If you trust it, run `git config --global --add safe.directory {keys}`.")
	}),
	on(func(e *installer.LinkedLockError) []Remedy { return do(replaceLink(e)) }),
	always[*installer.MissingLockError]("Run `cotter install{dir}` to create one."),
	on(func(e *repository.HistoryEndError) []Remedy {
		switch {
		case e.Shallow:
			return do(unshallow)
		case e.Partial:
			return do(fetchHistory)
		}
		return nil
	}),

	on(func(e *httpx.ReachError) []Remedy {
		setting := fmt.Sprintf("write `local_hosts = [\"%s\"]` in your own settings.", e.HostPort)
		if e.OnThisMachine() {
			setting = "call a module or require a provider of that host in the root module too, or " + setting
		}
		return do("If you trust it, " + setting)
	}),

	// Differences from the lock.
	on(func(e *installer.LockedError) []Remedy {
		if e.Lost {
			return do(restoreEntries)
		}
		commit := do(commitLock)
		if e.Earlier != "" || slices.ContainsFunc(e.Reasons, func(r installer.LockedReason) bool { return r.Vanished }) {
			return append(commit, do(restoreEntries)...)
		}
		return commit
	}),
	on(func(e *installer.HashMismatchError) (list []Remedy) {
		if e.OtherAddress {
			return do(UpdateLock)
		}
		if len(e.Gitlinks) > 0 {
			list = do("If the lock was made with the setting `submodules`, set it here too.")
		}
		if !e.Path.IsRoot() {
			list = append(list, About(e.Path.String(), AcceptContent)...)
		}
		return list
	}),
	on(func(e *installer.ContentChangedError) []Remedy {
		if e.SourceBlock {
			return About(e.Path.String(), fmt.Sprintf("If you know why, run `cotter update{dir} {keys} --to %s{accept}` to lock the new content.", e.Name))
		}
		return About(e.Path.String(), AcceptContent)
	}),
	on(unreachableCommit),
	always[*getmodules.SubmoduleError]("Set `submodules = true` in the settings block of cotter.hcl to fetch submodules, or call the submodule's repository as a module of its own."),
	always[*installer.OutsideError]("Replace the package by a directory of the repository, or by another package."),
	always[*installer.StaleError](UpdateLock),
	wraps(getproviders.ErrUnknownKey, "Do not use this version, and tell its publisher."),
	wraps(bundle.ErrBundle, "Name a file that `bundle create` has written. If this is one, it is damaged: create it again."),
	wraps(getmodules.ErrOCIArtifact, "Check that the address names a module package, and that no proxy or login page answers in its place."),
	wraps(registryclient.ErrRefusedLocation, "Ask the operator of the registry to correct the location, or use it as the source yourself if you trust it."),
	wraps(getmodules.ErrBuiltInGit, "Install git 2.26 or newer. If it is installed, unset COTTER_GIT_BACKEND."),
	wraps(installer.ErrOffline, "Run the command once without `--offline`."),
	wraps(installer.ErrNotInstalled, InstallMissing),
	wraps(installer.ErrMisplaced, Repair),

	// Other commands, and settings.
	on(func(e *s3.CredentialsError) []Remedy {
		return do(fmt.Sprintf("If the server is yours, write `s3_endpoints = [\"%s\"]` in your own settings, or set AWS_ENDPOINT_URL_S3.", e.Endpoint))
	}),
	always[*s3.NoCredentialsError]("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or log in to a profile and name it in AWS_PROFILE."),
	always[*gcs.CredentialsError]("Log in with `gcloud auth application-default login`, or name a file with credentials in GOOGLE_APPLICATION_CREDENTIALS."),
	wraps(installer.ErrShortStateKey, "Set COTTER_STATE_KEY to a longer secret, such as `openssl rand -hex 32` prints."),
}, append(hostRows, brokenDisk)...)

// brokenDisk is for what a system refuses to do with files, if no other row knows why.
func brokenDisk(err error) []Remedy {
	switch {
	case errors.Is(err, syscall.EROFS):
		return do("Mount the file system so that it can be written to, and run the command again.")
	case errors.Is(err, fs.ErrPermission):
		return do("Check the owner and the permissions there, and run the command again.")
	case errors.Is(err, syscall.EMFILE):
		return do("Allow more open files, for example with `ulimit -n 4096`, and run the command again.")
	case errors.Is(err, syscall.EIO):
		return do("Check the disk, and run the command again.")
	}
	return nil
}

// Remedies that several rows, warnings or reports share.
const (
	nameTool       = "If the project is for one of them only, name it with `--for`, or with `for` in the settings of cotter.hcl. Otherwise write the same in both files."
	UpdateLock     = "Run `cotter install{dir}` to bring the lock up to date."
	commitLock     = "Run `cotter install{dir}` on your machine and commit the lock."
	InstallLocked  = "Run `cotter install{dir}` to install what the lock has."
	InstallMissing = "Run `cotter install{dir}` to install what is missing."
	Repair         = "Run `cotter install{dir}` to restore what the lock has."
	restoreEntries = "Run `cotter lock --offline{dir}` to put back entries that have vanished from the lock."
	AcceptContent  = "If you know why, run `cotter update{dir} {keys}{accept}` to lock the new content."
	allowDowngrade = "Run `cotter update{dir} {keys} --allow-downgrade` to allow lower versions."
	selectAnother  = "Run `cotter update{dir} {keys}` to select another version."
	lockPlatform   = "The locked hashes are probably those of another platform. If the lock was made on one, run `cotter lock{dir} --platform %s` on your machine and commit the lock. Otherwise ask the publisher."
	LockProvider   = "If you know why, remove the block of {names} from .terraform.lock.hcl and run `cotter install{dir}` to lock the new package. Otherwise ask the publisher."
	Relock         = "Run `cotter update{dir} {keys}` to lock what the address points to now."
	relockTag      = "If you know why the tag has moved, run `cotter update{dir} {keys}{accept}` to lock what it points to now."
	keptProviders  = "If the state does not need them, run `cotter install{dir} --prune-providers`, because the next `init` of tofu or terraform drops them, and all module blocks of the lock with them. If the state needs them, only `init -backend=false` does so."
	pruneProvider  = "No module requires it. Run `cotter install{dir} --prune-providers` to remove it from the lock."
	unshallow      = "Run `git fetch --unshallow` first to take the versions of an earlier lock, if there is one."
	fetchHistory   = "Run `git log -p {lock}`, which fetches the earlier versions, and then this command again."
)

// Remedies in reports of commands that succeed, or of verify.
const (
	ConfirmEntries = "Run `cotter install --locked` to have the origins confirm these entries, or name the mirror or the bundle that has confirmed them."
	UseEarlierLock = "To use the versions of that one, remove {lock} and run `cotter lock --offline{dir}`."
)

func unreachableCommit(e *installer.UnreachableError) (list []Remedy) {
	if !e.Unknown {
		list = do("Look at the lock's last changes, with `git log -p {lock}`.")
	}
	if e.Fixed {
		list = append(list, About(e.Path.String(), relockTag)...)
	} else {
		list = append(list, About(e.Path.String(), Relock)...)
	}
	if e.Unknown {
		list = append(list, do("Use `--mirror` or `--bundle` to take the package from a mirror or a bundle, if one has it.")...)
	}
	return append(list, About(e.Path.String(), "To use the locked commit nevertheless, run the command with `{unreachable}`.")...)
}

func replaceLink(linked *installer.LinkedLockError) string {
	text := fmt.Sprintf("Replace the link with a copy of the file %q, as tofu and terraform do when they write the lock", linked.Target)
	if linked.Inside != "" {
		text += fmt.Sprintf("; or keep Cotter's entries only in that file, with `lock_file = %q` in the settings block of cotter.hcl", linked.Inside)
	}
	return text + "."
}

func diagnosticRemedies(project string, diag *hcl.Diagnostic) []Remedy {
	if conflict, ok := hcl.DiagnosticExtra[lockfile.MergeConflict](diag); ok {
		text := "Run `cotter install{dir}` to merge the sides. If it cannot, it says why."
		if conflict.Undecided {
			text = "Then run `cotter install{dir}` to lock what is still missing."
		}
		return []Remedy{{text: text, project: project}}
	}
	if _, ok := hcl.DiagnosticExtra[config.UnknownToTerraform](diag); ok {
		return []Remedy{{text: "Use `--for tofu` to read the project as tofu does.", project: project}}
	}
	if _, ok := hcl.DiagnosticExtra[*config.FileReadError](diag); ok {
		return do("If you trust the author of this configuration with all your files, use `--allow-file-reads`.")
	}
	return nil
}

var warningAdvice = map[event.WarningKind]string{
	event.WarningNoCache:         "Name another directory with COTTER_CACHE_DIR.",
	event.WarningKeptProviders:   keptProviders,
	event.WarningOnePlatform:     "If the lock is for other platforms too, run `cotter lock{dir} --platform OS_ARCH` for each of them.",
	event.WarningRepositoryOwner: "If you trust it, add its directory to `safe.directory` in your git configuration.",
	event.WarningShallowHistory:  unshallow,
	event.WarningPartialHistory:  fetchHistory,
	event.WarningDialectAssumed:  "Use `--for tofu` or `--for terraform` to decide.",
	event.WarningDialectFiles:    nameTool,
	event.WarningMoved:           relockTag,
	event.WarningMerged:          "Look at it with `git diff HEAD -- {lock}`, and mark it as resolved with `git add {lock}`.",
	event.WarningUnknownHistory:  Relock,
}

// WarningRemedies are for a warning in a project, which is "" if there is only one.
func WarningRemedies(project string, w event.Warning) []Remedy {
	if w.Err != nil {
		return RemediesOf(project, w.Err)
	}
	text, ok := warningAdvice[w.Kind]
	if !ok {
		return nil
	}
	return []Remedy{{text: text, project: project, key: w.Path.String()}}
}

// RemediesOf is for an error, of a project, that does not join others. There are none for nil.
func RemediesOf(project string, err error) []Remedy {
	if err == nil {
		return nil
	}
	for _, remedies := range remedyTable {
		if list := remedies(err); len(list) > 0 {
			return inProjectDir(project, list)
		}
	}
	return nil
}

func inProjectDir(project string, list []Remedy) []Remedy {
	return lists.WithEach(list, func(r *Remedy) { r.project = project })
}

// remedyRow returns nil for errors that it is not about.
type remedyRow = func(error) []Remedy

func wraps(sentinel error, text string) remedyRow { return when(sentinel, do(text)) }

// when is for errors that wrap a sentinel.
func when[T any](sentinel error, found T) func(error) T {
	return func(err error) (none T) {
		if errors.Is(err, sentinel) {
			return found
		}
		return none
	}
}

func always[E error](text string) remedyRow { return on(func(E) []Remedy { return do(text) }) }

// on is for errors of a type whose fields decide.
func on[E error, T any](find func(E) T) func(error) T {
	return func(err error) (none T) {
		if e, ok := errors.AsType[E](err); ok {
			return find(e)
		}
		return none
	}
}

// within is for errors of type E in one of type Outer, which names the module call or the provider.
func within[Outer, E error](advise func(Outer, E) []Remedy) remedyRow {
	return func(err error) []Remedy {
		outer, isOuter := errors.AsType[Outer](err)
		if e, ok := errors.AsType[E](err); ok && isOuter {
			return advise(outer, e)
		}
		return nil
	}
}

// do returns no remedy for "".
func do(text string) []Remedy {
	if text == "" {
		return nil
	}
	return []Remedy{{text: text}}
}

func About(key, text string) []Remedy { return []Remedy{{text: text, key: key}} }

func Is[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

// remedyLines returns what several errors have in common once, with all their keys, and names the other
// projects that need the same.
func remedyLines(list []Remedy) []string {
	return lists.Map(lists.GroupBy(list, func(r Remedy) string { return r.text }), func(same []Remedy) string {
		projects := lists.GroupBy(same, func(r Remedy) string {
			if !r.isOfProject() {
				return ""
			}
			return r.project
		})
		first, calls := keysIn(projects[0]), ""
		text := same[0].line(first)
		var others []string
		for _, other := range projects[1:] {
			others = append(others, other[0].project)
			if !slices.Equal(keysIn(other), first) {
				calls = "the calls of "
			}
		}
		if others != nil {
			text += " Do the same for " + calls + view.SomeOf(others, view.MaxNamed) + "."
		}
		return text
	})
}

func keysIn(list []Remedy) (keys []string) {
	for _, r := range list {
		if r.key != "" && !slices.Contains(keys, r.key) {
			keys = append(keys, r.key)
		}
	}
	return keys
}

func (r Remedy) isOfProject() bool {
	return strings.Contains(r.text, "{dir}") || strings.Contains(r.text, "{lock}")
}

func (r Remedy) line(keys []string) string {
	accept, unreachable := "", ""
	words := make([]string, len(keys))
	for i, key := range keys {
		words[i] = view.ShellWord(key)
		accept += " --accept-changed " + words[i]
		unreachable += " --accept-unreachable " + words[i]
	}
	text := advisedDir().ReplaceAllStringFunc(r.text, func(found string) string {
		parts := advisedDir().FindStringSubmatch(found)
		return strings.TrimSuffix(found, "{dir}") + r.flags(parts[1], parts[2])
	})
	return strings.NewReplacer("{lock}", view.ShellWord(path.Join(r.project, lockfile.Name)), "{keys}", strings.Join(words, " "), "{names}", view.Enumeration(keys),
		"{accept}", accept, "{unreachable}", strings.TrimSpace(unreachable)).Replace(text)
}

// advisedDir matches a command with its flags before {dir}.
var advisedDir = lazyregexp.New(`cotter ([a-z]+)((?: --[a-z-]+)*)\{dir\}`)

func (r Remedy) flags(command, rest string) (flags string) {
	if r.project != "" && r.project != "." {
		flags = " --chdir " + view.ShellWord(r.project)
	}
	if r.again != nil {
		flags += r.again(command, rest, r.project)
	}
	return flags
}

func protect(e *pathsafe.ExposedError) string {
	command, dirs := "chmod go-w", ""
	for _, dir := range e.Dirs {
		if dir.Foreign {
			return "Use COTTER_CACHE_DIR and COTTER_STATE_DIR to name directories whose parents all belong to you or to root."
		}
		if dir.Owner != os.Geteuid() && os.Geteuid() != 0 {
			command = "sudo chmod go-w"
		}
		dirs += " " + view.ShellWord(dir.Path)
	}
	return fmt.Sprintf("Run `%s%s`, or use COTTER_CACHE_DIR and COTTER_STATE_DIR to name other directories.", command, dirs)
}
