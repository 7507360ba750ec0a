package installer

import (
	"fmt"

	"github.com/cotterpin/cotter/internal/origins"
	"github.com/cotterpin/cotter/internal/project"
	"github.com/cotterpin/cotter/internal/userkey"
)

// Kinds of failure about a machine and its directories.
var (
	// ErrNoVersionsOffline is an [ErrOffline] for a call whose version cannot be selected: the lock
	// has none that fits, and the versions cannot be listed.
	ErrNoVersionsOffline = origins.ErrCannotList
	// ErrUnconfirmedOffline is an [ErrOffline] for a package whose entry in the lock no origin has
	// confirmed to this user.
	ErrUnconfirmedOffline = fmt.Errorf("no origin has confirmed the lock's entry for it on this machine, and %w", ErrOffline)
	// ErrShortStateKey says that Installer.StateKey is too short for a secret.
	ErrShortStateKey = userkey.ErrShortSecret
	// ErrNotVendorDir says that the directory in which packages are to be vendored has other
	// content.
	ErrNotVendorDir = project.ErrNotOurs
	// ErrMetadata says that the lock file or a directory of a project is in .git or other metadata of
	// version control, which is never written.
	ErrMetadata = project.ErrMetadata
)
