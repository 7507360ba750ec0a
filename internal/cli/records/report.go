package records

import (
	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/cli/lists"
	"github.com/cotterpin/cotter/lockfile"
)

// Report is the result of verify.
type Report struct {
	// Unfinished is true if an installation was interrupted.
	Unfinished bool `json:"unfinished,omitempty"`
	// Unproven are files that were ignored because this user did not write them here.
	Unproven []string `json:"unproven,omitempty"`
	// Refused are violations of the policy.
	Refused []Failure `json:"refused,omitempty"`
	// Stale are differences between the lock and the configuration.
	Stale []Failure `json:"stale,omitempty"`
	// Misplaced are modules for which modules.json has another directory.
	Misplaced []Failure `json:"misplaced,omitempty"`
	// Unread are errors in parts of the configuration that cannot be read, and so were not compared.
	Unread   []Failure `json:"unread,omitempty"`
	Packages []Package `json:"packages"`
	// Directories are the directories that replace packages. Their files are not locked.
	Directories []lockfile.Module `json:"directories,omitempty"`
	Providers   []ProviderReport  `json:"providers,omitempty"`
	// Origins has an element for each module call, with --remote if everything matches the lock.
	Origins []Origin `json:"origins,omitempty"`
	// ProviderOrigins is the same for each locked provider.
	ProviderOrigins []OriginProvider `json:"provider_origins,omitempty"`
}

// Failure is what has failed, and what to do about it.
type Failure struct {
	Summary string `json:"summary"`
	Detail  string `json:"detail,omitempty"`
	Module  string `json:"module,omitempty"`
	// Provider is the address of the provider that the failure is about.
	Provider string `json:"provider,omitempty"`
	Place
	// Remedy says what to do next.
	Remedy string `json:"remedy,omitempty"`
}

// Error is a failure. A run that fails ends with one or more, and a run that succeeds has none.
type Error struct{ Failure }

// Warning is a warning for people.
type Warning struct {
	// Key is the key of the module that the warning is about, if it is about one.
	Key     string `json:"key,omitempty"`
	Message string `json:"message"`
	// Remedy says what to do about it.
	Remedy string `json:"remedy,omitempty"`
}

// UnexpectedFiles is written if the installed files of a module or a provider are neither
// those of the lock nor those that this user's last run installed. A warning follows.
type UnexpectedFiles struct {
	Key      string         `json:"key,omitempty"`
	Provider addrs.Provider `json:"provider,omitzero"`
	// Replaced is true if the files of the locked package have replaced them.
	Replaced bool `json:"replaced"`
	Files
}

// Package is a package in the output of verify.
type Package struct {
	Key    string `json:"key"`
	Status string `json:"status"`
	// Former is the version or package that is installed if it is exactly what this user's last
	// run installed, and the lock has another one (the status is "former") or none.
	Former string `json:"former,omitempty"`
	// Unconfirmed is true if nothing has confirmed the lock entry on this machine.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	// Evidence is who confirms the lock entry. It is absent if nothing does.
	Evidence evidence.Evidence `json:"evidence,omitzero"`
	Want     []hashing.Hash    `json:"want,omitempty"`
	Got      []hashing.Hash    `json:"got,omitempty"`
	Files
	Error string `json:"error,omitempty"`
}

// Packages returns the records of packages in a report.
func Packages(reports []installer.PackageReport) []Package {
	return lists.Map(reports, func(p installer.PackageReport) Package {
		j := Package{
			Key:         p.Path.String(),
			Status:      p.Status.String(),
			Unconfirmed: p.Unconfirmed,
			Want:        p.Want,
			Got:         p.Got,
			Files:       FilesOf(p.Changes),
			Error:       ErrorText(p.Err),
		}
		if p.Former.Key != "" {
			j.Former = ReleaseName(p.Former)
		}
		if p.Status != installer.StatusUnlocked {
			j.Evidence = p.Evidence
		}
		return j
	})
}

// Origin is the origin of a module call in the output of verify --remote.
type Origin struct {
	Key string `json:"key"`
	Place
	Package string `json:"package,omitempty"`
	Ref     string `json:"ref,omitempty"`
	Locked  string `json:"locked,omitempty"`
	Now     string `json:"now,omitempty"`
	Moved   bool   `json:"moved"`
	// Compared is true if the content was fetched and compared with the lock. Content is not
	// fetched if the origin has confirmed it to this user before.
	Compared bool `json:"compared"`
	// History is present if the locked commit is not what its ref points to, and is not known to
	// be in the history of a branch or a tag.
	History string `json:"history,omitempty"`
	Error   string `json:"error,omitempty"`
}

// OriginProvider is the source of a locked provider in the output of verify --remote.
type OriginProvider struct {
	Provider string            `json:"provider"`
	Version  string            `json:"version"`
	Location string            `json:"location,omitempty"` // Where the source has the package for this platform.
	Evidence evidence.Evidence `json:"evidence,omitzero"`  // Who has confirmed the release now.
	// Unknown are the hashes in the lock that belong to no package of the release.
	Unknown []hashing.Hash `json:"unknown,omitempty"`
	Moved   bool           `json:"moved"`
	Error   string         `json:"error,omitempty"`
}

// OriginProviders returns the records of the sources of locked providers.
func OriginProviders(origins []installer.ProviderOrigin) []OriginProvider {
	return lists.Map(origins, func(o installer.ProviderOrigin) OriginProvider {
		return OriginProvider{Provider: o.Provider.String(), Version: o.Version.String(), Location: o.Location, Evidence: o.Evidence, Unknown: o.Unknown, Moved: o.Moved(), Error: ErrorText(o.Err)}
	})
}

// Origins returns the records of the origins of module calls.
func Origins(origins []installer.ModuleOrigin) []Origin {
	return lists.Map(origins, func(o installer.ModuleOrigin) Origin {
		return Origin{
			Key:      o.Path.String(),
			Place:    PlaceOf(o.Call.Range),
			Package:  o.Package,
			Ref:      ComparedName(o),
			Locked:   o.Locked,
			Now:      o.Now,
			Moved:    o.Moved(),
			Compared: o.Fetched,
			History:  ErrorText(o.History),
			Error:    ErrorText(o.Err),
		}
	})
}

// ComparedName is a ref, "directory" or "address", or "" for the content.
func ComparedName(o installer.ModuleOrigin) string {
	switch o.Compared {
	case installer.ComparedRevision:
		return o.Ref.String()
	case installer.ComparedDirectory, installer.ComparedAddress:
		return string(o.Compared)
	}
	return ""
}
