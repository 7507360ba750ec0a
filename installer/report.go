package installer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/project/packagedir"
	"github.com/cotterpin/cotter/internal/text/textform"
	"github.com/cotterpin/cotter/lockfile"
	"github.com/cotterpin/cotter/versions"
)

// Report is the result of [Installer.Verify].
type Report struct {
	Complete bool            // everything was compared; Verify returns only complete reports
	Packages []PackageReport // all packages in the lock and all installed ones
	// Unlocked are the calls that the program does not lock, by [config.Call.Unlocked]. Nothing at or below them was
	// compared: what is installed for them is in Packages as StatusUnlocked, and does not make the verification fail.
	Unlocked []addrs.Module
	// Directories are the entries of calls that cotter.hcl replaces by directories, whose files are not locked.
	Directories []lockfile.Module
	Providers   []ProviderReport // those in the lock; none if the project has no providers directory
	// Stale are the mismatches between configuration and lock: first *ModuleErrors, then at most one
	// *DialectError, then *ProviderErrors if the project has a providers directory.
	Stale    []error
	Lost     *LockedError    // set if calls in Stale have no entry because the lock has lost all of its module entries
	Warnings []event.Warning // do not make the verification fail
	// Misplaced are *ModuleErrors about records in modules.json that do not match the configuration and the lock,
	// such as one with a directory whose files were not verified.
	Misplaced []error
	// Refused are *ProviderErrors and *ModuleErrors that wrap *policy.Violation. Modules below such calls were not compared.
	Refused []error
	// Unread are *ConfigErrors, and *ProviderErrors about constraints: what could not be read or evaluated, for example
	// without a value for a variable, and so was not compared.
	Unread     []error
	Unfinished bool     // an installation was killed while it placed modules; the next one undoes its changes
	Unproven   []string // files below .terraform that this user did not write for this project, and that were ignored
}

// OK reports whether there are no Problems. Neither a nil nor a zero Report is OK.
func (r *Report) OK() bool { return len(r.Problems()) == 0 }

// Problems returns why the report is not OK: what concerns the whole project, then Refused, Unread, Stale and
// Misplaced, then an error for each package that is not as in the lock, which wraps [ErrNotInstalled] if it is
// missing.
func (r *Report) Problems() []error {
	if r == nil {
		return []error{errors.New("there is no report")}
	}
	var all []error
	if !r.Complete {
		all = append(all, errors.New("not everything was compared"))
	}
	if r.Unfinished {
		all = append(all, errors.New("an installation was killed while it put modules in their places"))
	}
	all = slices.Concat(all, r.Refused, r.Unread, r.Stale, r.Misplaced)
	for _, p := range r.Packages {
		if p.Status == StatusUnlocked && r.isUnlocked(p.Path) {
			continue
		}
		if err := problem(p.Status, p.Err); err != nil {
			all = append(all, &ModuleError{Path: p.Path, Err: err})
		}
	}
	for _, p := range r.Providers {
		if err := problem(p.Status, p.Err); err != nil {
			all = append(all, &ProviderError{Provider: p.Provider, Version: p.Version, Err: err})
		}
	}
	return all
}

// isUnlocked reports whether a path is that of an unlocked call, or is below it.
func (r *Report) isUnlocked(path addrs.Module) bool {
	return slices.ContainsFunc(r.Unlocked, func(above addrs.Module) bool {
		return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
	})
}

func problem(status Status, err error) error {
	switch {
	case err != nil:
		return err
	case status == StatusVerified:
		return nil
	case status == StatusMissing:
		return ErrNotInstalled
	}
	return fmt.Errorf("the installed files do not match the lock: %s", status)
}

// Status says how an installed package compares with the lock.
type Status int

// The statuses of a package.
const (
	StatusUnknown  Status = iota // not compared
	StatusVerified               // as in the lock; added files do not count unless they are configuration
	StatusChanged                // with changed or missing files, or with added configuration
	StatusMissing                // in the lock, but not installed
	StatusUnlocked               // installed, but not in the lock
	StatusFormer                 // as this user's last run installed it, before the lock had another version
)

var statusNames = textform.Enum[Status]{Type: "Status", Names: []string{"unknown", "verified", "changed", "missing", "unlocked", "former"}}

// String returns the status in one word.
func (s Status) String() string { return statusNames.Text(s) }

// MarshalText fails for an unknown value.
func (s Status) MarshalText() ([]byte, error) { return statusNames.Marshal(s) }

// UnmarshalText reads what String returns.
func (s *Status) UnmarshalText(text []byte) error { return statusNames.Unmarshal(text, s) }

// PackageReport says how one installed package compares with the lock.
type PackageReport struct {
	Path   addrs.Module
	Status Status
	// Want are the hashes in the lock, and Got those of the installed files, of the same schemes.
	Want, Got []hashing.Hash
	Changes   hashing.Changes // the files that differ; empty also if the project lacks the sums of the locked files
	Err       error           // why the installed files could not be read
	// Former is the entry of this user's last run if Status is StatusFormer or StatusUnlocked and the package
	// is as that run installed it. Otherwise its Key is "".
	Former lockfile.Module
	// Evidence is who confirms the lock's entry, as far as is known without a request. Unconfirmed says that
	// [Options.StateDir] has no confirmation, as for what another tool installed from an edited lock.
	Evidence    evidence.Evidence
	Unconfirmed bool
}

func packageReport(key string, found packagedir.Report) PackageReport {
	return PackageReport{
		Path: pathOf(key), Status: statuses[found.Status],
		Want: found.Want, Got: found.Got, Changes: found.Changes, Err: found.Err,
	}
}

func (p *PackageReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

// ProviderReport says how one installed provider compares with the lock.
type ProviderReport struct {
	Provider addrs.Provider
	// Version is the locked one, and Former that of this user's last run if Status is StatusFormer.
	Version versions.Version
	Status  Status
	Former  versions.Version
	// Want are the hashes in the lock, and Got is the h1 hash of the installed provider.
	Want []hashing.Hash
	Got  hashing.Hash
	Err  error // why the files could not be compared: they cannot be read, or no hash in the lock applies to them
	// Evidence is who confirms an installed provider that matches the lock; Unconfirmed is as in [PackageReport].
	Evidence    evidence.Evidence
	Unconfirmed bool
}

func (p *ProviderReport) intact() bool { return p.Status == StatusVerified && p.Err == nil }

var statuses = map[packagedir.Status]Status{
	packagedir.Verified: StatusVerified,
	packagedir.Changed:  StatusChanged,
	packagedir.Missing:  StatusMissing,
	packagedir.Former:   StatusFormer,
}
