package records

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/mirror"
	"github.com/cotterpin/cotter/ocistore"
)

// Result is the result of an installation. Its type is "installed", "locked" for
// `cotter lock`, or "planned" if nothing was changed because of --dry-run.
type Result struct {
	done string
	// Dialect is the stock tool that the project is for: "tofu" or "terraform".
	Dialect string `json:"for"`
	// Modules are all modules, including local ones, in the order of their keys.
	Modules []Module `json:"modules"`
	// Changes are the module entries that differ from the previous lock.
	Changes []Change `json:"changes,omitempty"`
	// Updates are the modules whose packages differ from those of this user's last run, although
	// this run did not change their lock entries: another branch was checked out, for example.
	Updates []Update `json:"updates,omitempty"`
	// Restored are the keys of the module entries that the lock had lost and has again.
	Restored []string `json:"restored,omitempty"`
	// EarlierLock is where an earlier version of a lock is that did not exist: "the copy of the
	// last run", or a commit.
	EarlierLock string `json:"earlier_lock,omitempty"`
	// Providers are all providers, if the run installs providers.
	Providers []Provider `json:"providers,omitempty"`
	// ProviderChanges are the provider entries that differ from the previous lock.
	ProviderChanges []ProviderChange `json:"provider_changes,omitempty"`
	// ProviderUpdates are the same as updates, for providers.
	ProviderUpdates []ProviderChange `json:"provider_updates,omitempty"`
	// Refetched are the packages that were downloaded although they were installed, because
	// nothing on this machine confirmed them.
	Refetched []installer.Refetched `json:"refetched,omitempty"`
}

// ResultOf returns the last record of an installation, of the type that function done returns.
func ResultOf(done string, result *installer.Result) Record {
	return Result{
		done: done, Dialect: result.Dialect.String(), Modules: Modules(result.Modules, true), Changes: changes(result.LockChanges), Updates: updates(result.Updates),
		Restored: KeysOf(result.Restored), EarlierLock: result.EarlierLock,
		Providers: Providers(result.Providers), ProviderChanges: providerChanges(result.ProviderChanges), ProviderUpdates: providerChanges(result.ProviderUpdates),
		Refetched: result.Refetched,
	}
}

// Tree is the output of tree. With a name, it has only the modules and providers that the
// name is about, and their callers.
type Tree struct {
	// Modules are the modules of the tree except the root module. A module is followed by those that
	// it calls.
	Modules []Module `json:"modules"`
	// Providers are the providers that the modules require. They are absent with --only modules.
	Providers []Provider `json:"providers,omitempty"`
}

// Outdated is the output of outdated.
type Outdated struct {
	Outdated []OutdatedCall `json:"outdated"`
}

// OutdatedCall is a call, or a provider, in the output of outdated.
type OutdatedCall struct {
	Key      string `json:"key,omitempty"`
	Source   string `json:"source,omitempty"`
	Provider string `json:"provider,omitempty"`
	Current  string `json:"current,omitempty"`
	Allowed  string `json:"allowed,omitempty"`
	Latest   string `json:"latest,omitempty"`
	// Tag is the tag in the source address, if it has one.
	Tag string `json:"tag,omitempty"`
	// LatestTag is the newest tag.
	LatestTag string `json:"latest_tag,omitempty"`
	Place
}

// Edited is written for each tag or version constraint that update --edit changes.
type Edited struct {
	Key  string `json:"key"`
	File string `json:"file"`
	Line int    `json:"line"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// DryRun is true if the value was not written because of --dry-run.
	DryRun bool `json:"dry_run,omitempty"`
}

// Diff is the output of diff.
type Diff struct {
	Changes []EntryChange `json:"changes"`
}

// Restored is written after entries have been put back into the lock.
type Restored struct {
	// From is the place where the entries were found.
	From string `json:"from,omitempty"`
	// Tool is the stock tool that dropped the entries, in the output of init.
	Tool      string   `json:"tool,omitempty"`
	Keys      []string `json:"keys"`
	Providers []string `json:"providers"`
}

// Bundled is written after a bundle has been written.
type Bundled struct {
	File string `json:"file"`
	// Entries is the number of module entries in the locks.
	Entries int `json:"entries"`
	// Packages is the number of distinct packages that these entries name.
	Packages int `json:"packages"`
	// Providers is the number of provider packages, for all platforms.
	Providers int   `json:"providers"`
	Bytes     int64 `json:"bytes"`
}

// Stored is the list of the entries of a bundle or a mirror that were verified or imported.
type Stored struct {
	Entries []StoredEntry `json:"entries"`
}

// StoredEntry is an entry of a bundle or a mirror. If it has a platform, it is an entry of a provider, and the
// source is the provider's address.
type StoredEntry struct {
	Source   string         `json:"source"`
	Version  string         `json:"version,omitempty"`
	Platform addrs.Platform `json:"platform,omitzero"`
	Package  string         `json:"package,omitempty"`
	Hashes   []hashing.Hash `json:"hashes"`
	Tag      string         `json:"tag"`
	Error    string         `json:"error,omitempty"`
}

// StoredEntryOf returns the record of an entry of a bundle or a mirror.
func StoredEntryOf(entry ocistore.Entry) StoredEntry {
	return StoredEntry{Source: addrs.Redact(entry.Source), Version: entry.Version, Platform: entry.Platform, Package: entry.Package, Hashes: append([]hashing.Hash{}, entry.Hashes...), Tag: entry.Tag, Error: ErrorText(entry.Err)}
}

// Pushed is the result of mirror push, and is written after an installation has pushed to a mirror.
type Pushed struct {
	Mirrors []PushedMirror `json:"mirrors"`
}

// PushedMirror is what a mirror got.
type PushedMirror struct {
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

// PushedMirrorOf returns the record of what a mirror got.
func PushedMirrorOf(to *mirror.Mirror, result *mirror.Result) PushedMirror {
	return PushedMirror{Mirror: to.Address(), Entries: result.Entries, Providers: result.Providers, Pushed: result.Pushed, Replaced: result.Replaced, Bytes: result.Bytes}
}

// Mirrored is the list of the lock entries of all projects, in the output of mirror status.
type Mirrored struct {
	Entries []MirroredEntry `json:"entries"`
}

// MirroredEntry is what a mirror has for a lock entry. For a provider, the source is its address, and the key is
// empty.
type MirroredEntry struct {
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

// MirroredEntryOf returns the record of what a mirror has for a lock entry.
func MirroredEntryOf(m *mirror.Mirror, entry mirror.Entry) MirroredEntry {
	fault := ""
	if entry.Other {
		fault = mirror.ErrOtherPackage.Error()
	}
	return MirroredEntry{Mirror: m.Address(), Project: entry.Dir, Key: entry.Key, Source: addrs.Redact(entry.Source), Version: entry.Version, Platform: entry.Platform, Tag: entry.Tag, Missing: entry.Missing, Error: fault}
}

// KeysOf returns the keys of modules.
func KeysOf(modules []addrs.Module) []string { return lists.Map(modules, addrs.Module.String) }
