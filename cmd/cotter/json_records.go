package main

// jsonVersion is the version of the JSON output. Fields and types may be added to a
// version; whatever else changes makes a new one.
const jsonVersion = 1

// record is what a line of the JSON output has besides its envelope. kind is the line's
// "type".
type record interface{ kind() string }

// envelope is what each line of the JSON output begins with.
type envelope struct {
	// V is the version of the output.
	V int `json:"v"`
	// Type says which other fields there are.
	Type string `json:"type"`
	// Project is the directory of the root module that the line is about, in runs for
	// several of them.
	Project string `json:"project,omitempty"`
}

// records are all types of lines, in the order of docs/json.md.
var records = []record{
	resultRecord{}, resolvedRecord{}, fetchStartedRecord{}, fetchProgressRecord{}, fetchDoneRecord{}, waitingForFetchRecord{}, providerProgressRecord{},
	hashVerifiedRecord{}, moduleInstalledRecord{}, providerInstalledRecord{}, lockFileWrittenRecord{}, waitingRecord{}, warningRecord{}, errorRecord{},
	reportRecord{}, originsRecord{}, modulesRecord{}, treeRecord{}, graphRecord{}, providersRecord{}, chainsRecord{}, outdatedRecord{}, editedRecord{}, diffRecord{}, restoredRecord{},
	bundledRecord{}, storedRecord{}, pushedRecord{}, mirroredRecord{},
	cacheDirRecord{}, cacheUsageRecord{}, cacheVerifiedRecord{}, cacheKeyRecord{}, findingRecord{}, doctorRecord{}, versionRecord{},
}

// resultRecord is the last line of a run that was successful: "installed", "vendored" if it
// was `cotter vendor`, "locked" if only the lock was written, or "planned" if nothing was
// changed.
type resultRecord struct {
	done string
	// Dialect is the stock tool that the project is for: "tofu" or "terraform".
	Dialect string `json:"for"`
	// Modules are all modules, also local ones, in the order of their keys.
	Modules []jsonModule `json:"modules"`
	// Changes are the entries of modules that differ from the lock before.
	Changes []jsonChange `json:"changes,omitempty"`
	// Vendored are the packages in the repository that were written or removed.
	Vendored []jsonVendored `json:"vendored,omitempty"`
	// Providers are all providers, if the run installs them.
	Providers []jsonProvider `json:"providers,omitempty"`
	// ProviderChanges are the entries of providers that differ from the lock before.
	ProviderChanges []jsonProviderChange `json:"provider_changes,omitempty"`
}

func (r resultRecord) kind() string {
	if r.done == "" {
		return "installed"
	}
	return r.done
}

// resolvedRecord says which version or package a call got.
type resolvedRecord struct {
	Key     string `json:"key"`
	Source  string `json:"source"`
	Version string `json:"version,omitempty"`
	// Locked says that the lock decided it.
	Locked bool `json:"locked"`
}

func (resolvedRecord) kind() string { return "resolved" }

// fetchStartedRecord says that a package is being fetched.
type fetchStartedRecord struct {
	Package string `json:"package"`
}

func (fetchStartedRecord) kind() string { return "fetch_started" }

// fetchProgressRecord says how much of a package there is.
type fetchProgressRecord struct {
	Package string `json:"package"`
	// Done and Total are bytes. There is no total if the origin does not say it.
	Done  int64 `json:"done"`
	Total int64 `json:"total,omitempty"`
}

func (fetchProgressRecord) kind() string { return "fetch_progress" }

// fetchDoneRecord says that a package was fetched.
type fetchDoneRecord struct {
	Package string `json:"package"`
	Bytes   int64  `json:"bytes"`
	// Store is the mirror or bundle that it came from, if it was one.
	Store string `json:"store,omitempty"`
}

func (fetchDoneRecord) kind() string { return "fetch_done" }

// waitingForFetchRecord says that another process is fetching the package.
type waitingForFetchRecord struct {
	Package string `json:"package"`
}

func (waitingForFetchRecord) kind() string { return "waiting_for_fetch" }

// providerProgressRecord says how much of a provider's package there is.
type providerProgressRecord struct {
	Provider string `json:"provider"`
	Version  string `json:"version"`
	Platform string `json:"platform"`
	// Done and Total are bytes.
	Done  int64 `json:"done"`
	Total int64 `json:"total,omitempty"`
}

func (providerProgressRecord) kind() string { return "provider_progress" }

// hashVerifiedRecord says that a package has the hashes of the lock.
type hashVerifiedRecord struct {
	Key string `json:"key"`
}

func (hashVerifiedRecord) kind() string { return "hash_verified" }

// moduleInstalledRecord says that a package was put into its place.
type moduleInstalledRecord struct {
	Key string `json:"key"`
	Dir string `json:"dir"`
}

func (moduleInstalledRecord) kind() string { return "module_installed" }

// providerInstalledRecord says that a provider was put into its place.
type providerInstalledRecord struct {
	Provider string `json:"provider"`
	Version  string `json:"version"`
	Dir      string `json:"dir"`
	// KeyID is the identity of the key that signed its sums.
	KeyID string `json:"key_id,omitempty"`
}

func (providerInstalledRecord) kind() string { return "provider_installed" }

// lockFileWrittenRecord says that the lock was written.
type lockFileWrittenRecord struct {
	File string `json:"file"`
	// Created says that there was none before.
	Created bool `json:"created"`
}

func (lockFileWrittenRecord) kind() string { return "lock_file_written" }

// waitingRecord says that another process is changing the project.
type waitingRecord struct {
	Dir string `json:"dir"`
}

func (waitingRecord) kind() string { return "waiting" }

// warningRecord is something that a person should read.
type warningRecord struct {
	// Key is of the module that it is about.
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	// Remedy says what to do.
	Remedy string `json:"remedy,omitempty"`
}

func (warningRecord) kind() string { return "warning" }

// errorRecord is a failure. A run that fails has one or more, and no result.
type errorRecord struct{ message }

func (errorRecord) kind() string { return "error" }

// reportRecord is what verify found. Its exit status says the same in short.
type reportRecord struct {
	// OK says that nothing was found.
	OK bool `json:"ok"`
	// Unfinished says that an installation was interrupted.
	Unfinished bool `json:"unfinished,omitempty"`
	// Unproven are files that this user did not write here, and that were ignored.
	Unproven []string `json:"unproven,omitempty"`
	// Refused is what a policy does not allow.
	Refused []message `json:"refused,omitempty"`
	// Stale are differences between the lock and the configuration.
	Stale []message `json:"stale,omitempty"`
	// Misplaced are modules for which modules.json has another directory.
	Misplaced []message `json:"misplaced,omitempty"`
	// Unread is configuration that cannot be read.
	Unread    []message            `json:"unread,omitempty"`
	Packages  []jsonPackage        `json:"packages"`
	Providers []jsonProviderReport `json:"providers,omitempty"`
}

func (reportRecord) kind() string { return "report" }

// originsRecord is what verify --remote found, a call each.
type originsRecord struct {
	Origins []jsonOrigin `json:"origins"`
}

func (originsRecord) kind() string { return "origins" }

// modulesRecord is the output of list.
type modulesRecord struct {
	Modules []jsonModule `json:"modules"`
}

func (modulesRecord) kind() string { return "modules" }

// treeRecord is the output of tree: each module has those that it calls.
type treeRecord struct {
	Modules []jsonModule `json:"modules"`
}

func (treeRecord) kind() string { return "tree" }

// providersRecord is the output of list --providers, and of why for a provider.
type providersRecord struct {
	Providers []jsonProvider `json:"providers"`
}

func (providersRecord) kind() string { return "providers" }

// chainsRecord is the output of why: for each call the modules from the root's call to it.
type chainsRecord struct {
	Chains [][]jsonModule `json:"chains"`
}

func (chainsRecord) kind() string { return "chains" }

// outdatedRecord is the output of outdated.
type outdatedRecord struct {
	Outdated []jsonOutdated `json:"outdated"`
}

func (outdatedRecord) kind() string { return "outdated" }

// editedRecord is a tag that update --edit wrote into a source address.
type editedRecord struct {
	Key  string `json:"key"`
	File string `json:"file"`
	Line int    `json:"line"`
	Old  string `json:"old"`
	New  string `json:"new"`
	// DryRun says that it would be written.
	DryRun bool `json:"dry_run,omitempty"`
}

func (editedRecord) kind() string { return "edited" }

// diffRecord is the output of diff.
type diffRecord struct {
	Changes []entryChange `json:"changes"`
}

func (diffRecord) kind() string { return "diff" }

// restoredRecord says which entries were put back into the lock.
type restoredRecord struct {
	// From is where they were found.
	From string `json:"from,omitempty"`
	// Tool is the stock tool that dropped them, in the output of init.
	Tool      string   `json:"tool,omitempty"`
	Keys      []string `json:"keys"`
	Providers []string `json:"providers"`
}

func (restoredRecord) kind() string { return "restored" }

// bundledRecord says that a bundle was written.
type bundledRecord struct {
	File string `json:"file"`
	// Entries are those of the locks, and Packages the different packages that they name.
	Entries  int `json:"entries"`
	Packages int `json:"packages"`
	// Providers is the number of packages of providers, for all platforms.
	Providers int   `json:"providers"`
	Bytes     int64 `json:"bytes"`
}

func (bundledRecord) kind() string { return "bundled" }

// storedRecord is an entry of a bundle or a mirror that was verified or imported. Source is
// the address of a provider if it has a platform.
type storedRecord struct {
	Source   string   `json:"source"`
	Version  string   `json:"version,omitempty"`
	Platform string   `json:"platform,omitempty"`
	Package  string   `json:"package,omitempty"`
	Hashes   []string `json:"hashes"`
	Tag      string   `json:"tag"`
	Error    string   `json:"error,omitempty"`
}

func (storedRecord) kind() string { return "stored" }

// pushedRecord says what mirror push did.
type pushedRecord struct {
	Mirror  string `json:"mirror"`
	Entries int    `json:"entries"`
	// Providers is the number of packages of providers. Pushed and Replaced count them too.
	Providers int `json:"providers"`
	Pushed    int `json:"pushed"`
	// Replaced are those that were damaged in the mirror, or not signed.
	Replaced int   `json:"replaced"`
	Bytes    int64 `json:"bytes"`
}

func (pushedRecord) kind() string { return "pushed" }

// mirroredRecord is an entry of a lock in mirror status. For a provider, Source is its
// address, and the key is empty.
type mirroredRecord struct {
	Key      string `json:"key"`
	Source   string `json:"source"`
	Version  string `json:"version,omitempty"`
	Platform string `json:"platform,omitempty"`
	Tag      string `json:"tag"`
	// Missing says that the mirror does not have it.
	Missing bool `json:"missing"`
	// Error is what is wrong with what it has, such as that a signature is missing.
	Error string `json:"error,omitempty"`
}

func (mirroredRecord) kind() string { return "mirrored" }

// cacheDirRecord is the output of cache dir.
type cacheDirRecord struct {
	Dir string `json:"dir"`
}

func (cacheDirRecord) kind() string { return "cache_dir" }

// cacheUsageRecord is how much the cache has, or cache clean has removed.
type cacheUsageRecord struct {
	Packages     int   `json:"packages"`
	PackageBytes int64 `json:"package_bytes"`
	GitStores    int   `json:"git_stores"`
	GitBytes     int64 `json:"git_bytes"`
	Providers    int   `json:"providers"`
	ProviderSize int64 `json:"provider_bytes"`
	Quarantine   int64 `json:"quarantine_bytes"`
	Bytes        int64 `json:"bytes"`
}

func (cacheUsageRecord) kind() string { return "cache_usage" }

// cacheVerifiedRecord is the output of cache verify.
type cacheVerifiedRecord struct {
	OK bool `json:"ok"`
	// Damaged are packages that were set aside.
	Damaged []string `json:"damaged"`
}

func (cacheVerifiedRecord) kind() string { return "cache_verified" }

// cacheKeyRecord is the output of cache key.
type cacheKeyRecord struct {
	Key       string `json:"key"`
	Prefix    string `json:"prefix"`
	Platform  string `json:"platform"`
	Modules   int    `json:"modules"`
	Providers int    `json:"providers"`
}

func (cacheKeyRecord) kind() string { return "cache_key" }

// findingRecord is a fact that doctor has found.
type findingRecord struct {
	// Subject is what it is about, such as "Hosts".
	Subject string `json:"subject"`
	// Level is "ok", "note" or "problem".
	Level   string `json:"level"`
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
}

func (findingRecord) kind() string { return "finding" }

// doctorRecord is the last line of doctor.
type doctorRecord struct {
	// OK says that there is no problem.
	OK       bool `json:"ok"`
	Notes    int  `json:"notes"`
	Problems int  `json:"problems"`
}

func (doctorRecord) kind() string { return "doctor" }

// versionRecord is the output of version.
type versionRecord struct {
	Version  string `json:"version"`
	Platform string `json:"platform"`
}

func (versionRecord) kind() string { return "version" }
