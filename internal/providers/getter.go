package providers

import (
	"cmp"
	"context"
	"errors"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/providerstore"
	"github.com/cotterpin/cotter/versions"
)

// Getter gets packages. Its fields must not change once it is in use. It is safe for
// concurrent use; it bounds its transfers and unpackings itself, so that callers may
// ask for all packages at once.
type Getter struct {
	Source getproviders.Source
	Store  *providerstore.Store
	// PluginCache is the plugin cache of stock tools; the zero value is none.
	PluginCache getproviders.PluginCache
	// Offers are asked before PluginCache and Source for what the lock has hashes of; nil
	// offers nothing.
	Offers Offers
	// Offline forbids to ask the source: what is not in the store is an error over
	// [ErrNotAtHand].
	Offline bool
	// Accept decides on how a package was proven, before anything of it is unpacked, and
	// for a package that this user has got before. Its error is that of the package. nil
	// accepts everything.
	Accept func(getproviders.Authentication) error
	// Slots bounds transfers and unpackings, together with other Getters. nil means
	// that this one has its own, with the defaults.
	Slots *Slots
	// OnEvent is told what happens; nil is told nothing. It is called by several
	// goroutines at once.
	OnEvent func(Event)

	own Slots
}

// slot waits for room among the simultaneous transfers or unpackings.
func (g *Getter) slot(ctx context.Context, kind slotKind) (done func(), err error) {
	return cmp.Or(g.Slots, &g.own).wait(ctx, kind)
}

func (g *Getter) accept(auth getproviders.Authentication) error {
	if g.Accept == nil {
		return nil
	}
	return g.Accept(auth)
}

func (g *Getter) tell(e Event) {
	if g.OnEvent != nil {
		g.OnEvent(e)
	}
}

// Want is a package that is wanted.
type Want struct {
	Provider addrs.Provider
	Version  versions.Version
	Platform addrs.Platform
	// Locked are the hashes that the lock has for this version; nil if it has none.
	Locked []hashing.Hash
}

// Event is news of a package on its way.
type Event struct {
	Want Want
	Kind EventKind
	// Location is where the package comes from.
	Location string
	// Done and Total are the bytes of the archive for Downloading; Total is -1 if it is
	// not known.
	Done, Total int64
	// Stored says that it comes from a bundle or a mirror.
	Stored bool
	// Err is why an offer is not used or believed, for Refused and Distrusted.
	Err error
}

// EventKind is a kind of event.
type EventKind int

// The kinds of events.
const (
	// Waiting says that another process downloads the same archive.
	Waiting EventKind = iota + 1
	// Downloading comes at the start of a transfer, several times a second during it,
	// and at its end.
	Downloading
	// Unpacking follows the transfer.
	Unpacking
	// Damaged says that a package in the store was damaged, and is got again.
	Damaged
	// Refused says that a package of a bundle or a mirror cannot be used, and why.
	Refused
	// Distrusted says that a bundle or a mirror is not believed, and why.
	Distrusted
)

// Proof is what is known of a package.
type Proof struct {
	// Archive is the zh of the archive; "" if it is not known, because the package was
	// found by its h1 or came as a directory.
	Archive hashing.Hash
	// H1 is the hash of the content.
	H1 hashing.Hash
	// Hashes are those to be added to the lock: H1 first, then those that the source
	// vouches for, sorted.
	Hashes []hashing.Hash
	// Matched is the locked hash that the package has. If it is "", the lock proves
	// nothing: it has no h1 and no zh for this version. For [Getter.Hashes] it can also
	// be that it has none of this platform.
	Matched hashing.Hash
	// Authentication is that of the source; the zero value if the source was not
	// asked.
	Authentication getproviders.Authentication
	// Asked says that the source was asked, and Location where it has the package.
	Asked    bool
	Location string
	// Bytes is how much was downloaded.
	Bytes int64
}

// Got is a package that can be placed.
type Got struct {
	Proof
	Package *providerstore.Package
}

// ErrNotAtHand is returned if a package is not in the store, and the source must not be
// asked.
var ErrNotAtHand = errors.New("the package is not in the user's store")
