package main

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/lazyregexp"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/lockfile"
)

// jsonVersion is the version of the JSON output. Fields and types may be added without a new
// version; any other change needs a new version.
const jsonVersion = 1

// record has the fields of a line of the JSON output without its envelope.
type record any

var capital = lazyregexp.New(`[A-Z]`)

// kindOf returns the type of a record's line: "cache_dir" for a cacheDirRecord, for example, and
// "fetch_done" for an [event.FetchDone].
func kindOf(r record) string {
	if result, ok := r.(resultRecord); ok {
		return cmp.Or(result.done, "installed")
	}
	name := strings.TrimSuffix(reflect.TypeOf(r).Name(), "Record")
	return strings.TrimPrefix(strings.ToLower(capital().ReplaceAllString(name, "_$0")), "_")
}

// envelope has the fields at the start of each line of the JSON output.
type envelope struct {
	// V is the version of the output.
	V int `json:"v"`
	// Type says which other fields the line has.
	Type string `json:"type"`
	// Project is the directory of the root module that the line is about, in runs on
	// several root modules.
	Project string `json:"project,omitempty"`
	// OK is in each result and in no other line. A successful run ends with one result, or with one for each
	// project, and OK is true. It is false if an error follows: the result is then what is known nevertheless.
	OK *bool `json:"ok,omitempty"`
}

// records has all types of lines, in the order of docs/json.schema.json. The first sentence of each
// type's comment, and the comments of fields, are shown there without the Go name.
var records = []record{
	resultRecord{},
	event.Resolved{}, event.FetchStarted{}, event.FetchProgress{}, event.FetchDone{}, event.WaitingForFetch{},
	event.ProviderProgress{}, event.HashVerified{}, event.ModuleInstalled{}, event.ProviderInstalled{},
	event.LockFileWritten{}, event.Waiting{},
	unexpectedFilesRecord{}, warningRecord{}, errorRecord{},
	reportRecord{}, treeRecord{}, outdatedRecord{}, editedRecord{}, diffRecord{}, restoredRecord{},
	bundledRecord{}, storedRecord{}, pushedRecord{}, mirroredRecord{},
	cacheDirRecord{}, cacheUsageRecord{}, cacheVerifiedRecord{}, cacheKeyRecord{}, findingRecord{}, doctorRecord{}, versionRecord{},
}

// resultRecord is the result of an installation. Its type is "installed", "locked" for
// `cotter lock`, or "planned" if nothing was changed because of --dry-run.
type resultRecord struct {
	done string
	// Dialect is the stock tool that the project is for: "tofu" or "terraform".
	Dialect string `json:"for"`
	// Modules are all modules, including local ones, in the order of their keys.
	Modules []jsonModule `json:"modules"`
	// Changes are the module entries that differ from the previous lock.
	Changes []jsonChange `json:"changes,omitempty"`
	// Updates are the modules whose packages differ from those of this user's last run, although
	// this run did not change their lock entries: another branch was checked out, for example.
	Updates []jsonUpdate `json:"updates,omitempty"`
	// Restored are the keys of the module entries that the lock had lost and has again.
	Restored []string `json:"restored,omitempty"`
	// EarlierLock is where an earlier version of a lock is that did not exist: "the copy of the
	// last run", or a commit.
	EarlierLock string `json:"earlier_lock,omitempty"`
	// Providers are all providers, if the run installs providers.
	Providers []jsonProvider `json:"providers,omitempty"`
	// ProviderChanges are the provider entries that differ from the previous lock.
	ProviderChanges []jsonProviderChange `json:"provider_changes,omitempty"`
	// ProviderUpdates are the same as updates, for providers.
	ProviderUpdates []jsonProviderChange `json:"provider_updates,omitempty"`
	// Refetched are the packages that were downloaded although they were installed, because
	// nothing on this machine confirmed them.
	Refetched []installer.Refetched `json:"refetched,omitempty"`
}

// warningRecord is a warning for people.
type warningRecord struct {
	// Key is the key of the module that the warning is about, if it is about one.
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
}

// unexpectedFilesRecord is written if the installed files of a module or a provider are neither
// those of the lock nor those that this user's last run installed. A warning follows.
type unexpectedFilesRecord struct {
	Key      string         `json:"key,omitempty"`
	Provider addrs.Provider `json:"provider,omitzero"`
	// Replaced is true if the files of the locked package have replaced them.
	Replaced bool `json:"replaced"`
	jsonFiles
}

// errorRecord is a failure. A run that fails ends with one or more, and a run that succeeds has none.
type errorRecord struct{ failureRecord }

// failureRecord describes a failure.
type failureRecord struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	Module  string `json:"module,omitempty"`
	// Provider is the address of the provider that the failure is about.
	Provider string `json:"provider,omitempty"`
	jsonPlace
	// Remedy says what to do next.
	Remedy string `json:"remedy,omitempty"`
}

// reportRecord is the result of verify.
type reportRecord struct {
	// Unfinished is true if an installation was interrupted.
	Unfinished bool `json:"unfinished,omitempty"`
	// Unproven are files that were ignored because this user did not write them here.
	Unproven []string `json:"unproven,omitempty"`
	// Refused are violations of the policy.
	Refused []failureRecord `json:"refused,omitempty"`
	// Stale are differences between the lock and the configuration.
	Stale []failureRecord `json:"stale,omitempty"`
	// Misplaced are modules for which modules.json has another directory.
	Misplaced []failureRecord `json:"misplaced,omitempty"`
	// Unread are errors in parts of the configuration that cannot be read, and so were not compared.
	Unread   []failureRecord `json:"unread,omitempty"`
	Packages []jsonPackage   `json:"packages"`
	// Directories are the directories that replace packages. Their files are not locked.
	Directories []lockfile.Module    `json:"directories,omitempty"`
	Providers   []jsonProviderReport `json:"providers,omitempty"`
	// Origins has an element for each module call, with --remote if everything matches the lock.
	Origins []jsonOrigin `json:"origins,omitempty"`
	// ProviderOrigins is the same for each locked provider.
	ProviderOrigins []jsonOriginProvider `json:"provider_origins,omitempty"`
}

// treeRecord is the output of tree. With a name, it has only the modules and providers that the
// name is about, and their callers.
type treeRecord struct {
	// Modules are the modules of the tree except the root module. A module is followed by those that
	// it calls.
	Modules []jsonModule `json:"modules"`
	// Providers are the providers that the modules require. They are absent with --only modules.
	Providers []jsonProvider `json:"providers,omitempty"`
}

// outdatedRecord is the output of outdated.
type outdatedRecord struct {
	Outdated []jsonOutdated `json:"outdated"`
}

// editedRecord is written for each tag or version constraint that update --edit changes.
type editedRecord struct {
	Key  string `json:"key"`
	File string `json:"file"`
	Line int    `json:"line"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// DryRun is true if the value was not written because of --dry-run.
	DryRun bool `json:"dry_run,omitempty"`
}

// diffRecord is the output of diff.
type diffRecord struct {
	Changes []entryChange `json:"changes"`
}

// restoredRecord is written after entries have been put back into the lock.
type restoredRecord struct {
	// From is the place where the entries were found.
	From string `json:"from,omitempty"`
	// Tool is the stock tool that dropped the entries, in the output of init.
	Tool      string   `json:"tool,omitempty"`
	Keys      []string `json:"keys"`
	Providers []string `json:"providers"`
}

// bundledRecord is written after a bundle has been written.
type bundledRecord struct {
	File string `json:"file"`
	// Entries is the number of module entries in the locks.
	Entries int `json:"entries"`
	// Packages is the number of distinct packages that these entries name.
	Packages int `json:"packages"`
	// Providers is the number of provider packages, for all platforms.
	Providers int   `json:"providers"`
	Bytes     int64 `json:"bytes"`
}

// storedRecord has the entries of a bundle or a mirror that were verified or imported.
type storedRecord struct {
	Entries []jsonStored `json:"entries"`
}

// jsonStored is an entry of a bundle or a mirror. If it has a platform, it is an entry of a provider, and the
// source is the provider's address.
type jsonStored struct {
	Source   string         `json:"source"`
	Version  string         `json:"version,omitempty"`
	Platform addrs.Platform `json:"platform,omitzero"`
	Package  string         `json:"package,omitempty"`
	Hashes   []hashing.Hash `json:"hashes"`
	Tag      string         `json:"tag"`
	Error    string         `json:"error,omitempty"`
}

// pushedRecord is the result of mirror push, and is written after an installation has pushed to a mirror.
type pushedRecord struct {
	Mirrors []jsonPushed `json:"mirrors"`
}

// jsonPushed is what a mirror got.
type jsonPushed struct {
	Mirror  string `json:"mirror"`
	Entries int    `json:"entries"`
	// Providers is the number of provider packages. The fields pushed and replaced include
	// them.
	Providers int `json:"providers"`
	Pushed    int `json:"pushed"`
	// Replaced is the number of packages that were damaged in the mirror, or not signed.
	Replaced int   `json:"replaced"`
	Bytes    int64 `json:"bytes"`
}

// mirroredRecord has the lock entries of all projects, in the output of mirror status.
type mirroredRecord struct {
	Entries []jsonMirrored `json:"entries"`
}

// jsonMirrored is what a mirror has for a lock entry. For a provider, the source is its address, and the key is
// empty.
type jsonMirrored struct {
	Mirror string `json:"mirror"`
	// Project is the directory of the root module.
	Project  string         `json:"project"`
	Key      string         `json:"key"`
	Source   string         `json:"source"`
	Version  string         `json:"version,omitempty"`
	Platform addrs.Platform `json:"platform,omitzero"`
	Tag      string         `json:"tag"`
	// Missing is true if the mirror does not have the entry.
	Missing bool `json:"missing"`
	// Error is the problem with the mirror's entry, such as a missing signature.
	Error string `json:"error,omitempty"`
}

// cacheDirRecord is the output of cache dir.
type cacheDirRecord struct {
	Dir string `json:"dir"`
}

// cacheUsageRecord is the size of the cache, or of the part that cache clean has removed.
type cacheUsageRecord struct {
	Packages     int   `json:"packages"`
	PackageBytes int64 `json:"package_bytes"`
	GitStores    int   `json:"git_stores"`
	GitBytes     int64 `json:"git_bytes"`
	Providers    int   `json:"providers"`
	ProviderSize int64 `json:"provider_bytes"`
	// Linked is the number of providers that projects of this user link to. In the output of
	// cache clean, it is the number of those that were kept for this reason.
	Linked     int   `json:"linked_providers"`
	LinkedSize int64 `json:"linked_bytes"`
	Quarantine int64 `json:"quarantine_bytes"`
	Bytes      int64 `json:"bytes"`
	// Projects are the projects of this user with such links. After cache clean --all they need
	// `cotter install`.
	Projects []store.Project `json:"projects"`
	// Foreign is the number of recorded projects that this user has not installed. They are not
	// looked at.
	Foreign int `json:"foreign_projects,omitempty"`
}

// cacheVerifiedRecord is the output of cache verify.
type cacheVerifiedRecord struct {
	// Damaged are the damaged packages, which were set aside.
	Damaged []string `json:"damaged"`
}

// cacheKeyRecord is the output of cache key.
type cacheKeyRecord struct {
	Key       string `json:"key"`
	Prefix    string `json:"prefix"`
	Platform  string `json:"platform"`
	Modules   int    `json:"modules"`
	Providers int    `json:"providers"`
}

// findingRecord is a fact that doctor has found.
type findingRecord struct {
	// Subject is the subject of the finding, such as "Hosts".
	Subject string `json:"subject"`
	// Level is "ok", "note" or "problem".
	Level   string `json:"level"`
	Message string `json:"message"`
}

// doctorRecord is the result of doctor.
type doctorRecord struct {
	Notes    int `json:"notes"`
	Problems int `json:"problems"`
}

// versionRecord is the output of cotter --version --json.
type versionRecord struct {
	Version  string `json:"version"`
	Platform string `json:"platform"`
}
