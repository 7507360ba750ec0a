package cotter

import (
	"errors"
	"slices"

	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/policy"
)

// Status is how an installed package compares with the lock.
type Status int

// The statuses of a package.
const (
	// StatusVerified is a package whose bytes are those of the lock, apart from
	// files that it was given since and that are no configuration.
	StatusVerified Status = iota
	// StatusChanged is a package with changed or vanished files, or with
	// configuration files that were added.
	StatusChanged
	// StatusMissing is a package of the lock that is not installed.
	StatusMissing
	// StatusUnlocked is an installed package that the lock has no entry for.
	StatusUnlocked
)

// String is the status in one word.
func (s Status) String() string {
	switch s {
	case StatusVerified:
		return "verified"
	case StatusChanged:
		return "changed"
	case StatusMissing:
		return "missing"
	}
	return "unlocked"
}

// PackageReport is how one installed package compares with the lock.
type PackageReport struct {
	// Key is the path of the module call, with dots.
	Key    string
	Status Status
	// Want are the lock's hashes, Got those of the installed files, of the
	// same schemes.
	Want, Got []hashing.Hash
	// Changes tells the files apart. It is empty where nothing differs, and
	// where the sums of the locked files are not kept beside the modules.
	Changes hashing.Changes
	// Err is why the installed files could not be read, if they could not.
	Err error
	// Unconfirmed says that no origin has confirmed the lock's entry to this
	// user, as far as Installer.StateDir tells: an edited lock can have been
	// installed by another tool.
	Unconfirmed bool
}

// intact reports whether the package may stay as it is installed.
func (p *PackageReport) intact() bool { return p.Status == StatusVerified }

// Report is what Verify found.
type Report struct {
	// Packages are all packages of the lock and all installed ones, in the
	// order of their keys.
	Packages []PackageReport
	// Stale says where the configuration and the lock do not fit together, as
	// *ModuleError in the order of the modules' paths.
	Stale []error
	// Misplaced says where modules.json, by which stock tools find modules, has
	// something else than the configuration and the lock: another directory,
	// say, whose files nobody has verified. They are *ModuleError in the order
	// of the modules' paths.
	Misplaced []error
	// Refused are calls that the policy does not allow, as *ModuleError over
	// *policy.Violation in the order of the modules' paths. Below them nothing
	// was compared with the configuration.
	Refused []error
	// Unread is configuration that could not be read and was not compared with
	// the lock, as *ConfigError: for want of a variable's value, say. It is no
	// failure: what is installed was compared.
	Unread []error
	// Unfinished says that an installation was killed while it put modules
	// into their places. The next Install undoes that.
	Unfinished bool
	// Unproven are files below .terraform that this user did not write for this
	// project. They counted as absent.
	Unproven []string
}

// OK reports whether every package is installed and is what the lock says, and
// the lock is for this configuration, which the policy allows.
func (r *Report) OK() bool {
	return !r.Unfinished && len(r.Stale)+len(r.Misplaced)+len(r.Refused) == 0 && !slices.ContainsFunc(r.Packages, func(p PackageReport) bool { return !p.intact() })
}

// addFailures sorts what went wrong in the walk.
func (r *Report) addFailures(failures *failures) {
	for _, err := range failures.errs() {
		var unreadable *ConfigError
		var refused *policy.Violation
		switch {
		case errors.As(err, &refused):
			r.Refused = append(r.Refused, err)
		case errors.As(err, &unreadable):
			r.Unread = append(r.Unread, err)
		case !errors.Is(err, ErrNotInstalled):
			r.Stale = append(r.Stale, err)
		}
	}
}
