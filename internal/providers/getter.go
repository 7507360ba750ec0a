package providers

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/versions"
)

// Getter gets packages. Its fields must not change while it is in use. It is safe for concurrent
// use. It limits its own concurrent transfers and unpackings, so callers may ask for all packages
// at once.
type Getter struct {
	Source getproviders.Source
	Store  *store.Providers
	// PluginCache is the stock tools' plugin cache. It delivers packages and confirms nothing. The
	// zero value means that there is none.
	PluginCache getproviders.PluginCache
	// Installed is the project's directory of providers, or "". Like the plugin cache, it delivers
	// packages and confirms nothing.
	Installed string
	// Offers are tried before PluginCache and Source if the lock has hashes of the package. A nil
	// Offers offers nothing.
	Offers Offers
	// Offline forbids requests: only the local part of the source is asked. If a package is not
	// at hand, the error wraps [ErrNotAtHand].
	Offline bool
	// Rule says which evidence is enough for a package. The zero value accepts none; the error is
	// a *[getproviders.UnconfirmedError].
	Rule evidencerules.Rule
	// Stores is the evidence that the bundles and mirrors of Offers give. What others have
	// confirmed in earlier runs does not count.
	Stores []evidence.Evidence
	// Accept decides whether the proof of a package is sufficient. It is called before the package
	// is unpacked, and also for packages that this user has got before. Its error is returned for
	// the package. A nil Accept accepts every proof.
	Accept func(getproviders.Authentication) error
	// Complete says that the lock may change. [Proof].Hashes are then all hashes that the source
	// confirms, also if the package was got in an earlier run.
	Complete bool
	// Slots limits transfers and unpackings, and may be shared by several Getters. If it is nil,
	// the Getter has its own Slots with the default limits.
	Slots *Slots
	// OnEvent receives events unless it is nil. Several goroutines may call it at once.
	OnEvent func(event.Event)

	own Slots
}

func (g *Getter) slot(ctx context.Context, kind slotKind) (done func(), err error) {
	return cmp.Or(g.Slots, &g.own).wait(ctx, kind)
}

func (g *Getter) accept(auth getproviders.Authentication) error {
	if g.Accept == nil {
		return nil
	}
	return g.Accept(auth)
}

func (g *Getter) tell(e event.Event) {
	if g.OnEvent != nil {
		g.OnEvent(e)
	}
}

// refused says that a package of a bundle or a mirror cannot be used.
func (g *Getter) refused(want Want, reason error) {
	g.tell(event.Warning{Message: fmt.Sprintf("provider %s %s: %s", want.Provider.ForDisplay(), want.Version, reason)})
}

func (g *Getter) find(ctx context.Context, want Want) (getproviders.Package, error) {
	source := g.Source
	if g.Offline {
		source = source.Local()
	}
	pkg, err := source.Package(ctx, want.Provider, want.Version, want.Platform)
	if g.Offline && (errors.Is(err, getproviders.ErrNotFound) || errors.Is(err, getproviders.ErrUnsupportedPlatform)) {
		return nil, ErrNotAtHand
	}
	return pkg, err
}

// Want describes a wanted package.
type Want struct {
	Provider addrs.Provider
	Version  versions.Version
	Platform addrs.Platform
	// Locked are the hashes that the lock has for this version; nil if it has none.
	Locked []hashing.Hash
}

func (w Want) statement() string {
	return store.ReleaseStatement(w.Provider, w.Version, w.Platform)
}

// Proof is what is known about a package and its origin.
type Proof struct {
	// Archive is the zh of the archive. It is "" if the archive is not known because the package
	// was found by its h1 or is a directory.
	Archive hashing.Hash
	H1      hashing.Hash
	// Hashes are the hashes to add to the lock: first H1, then the hashes that the source has
	// confirmed, sorted. With [Getter].Complete, they depend only on the source, and not on the store.
	// With [Getter].Offers and locked hashes, it is H1 alone, because then the source need not be
	// reachable.
	Hashes []hashing.Hash
	// Incomplete is the reason why Hashes may lack some that the source confirms, or nil.
	Incomplete error
	// Matched is the locked hash that the package has. If it is "", the lock does not prove the
	// package, because it has no h1 and no zh for this version. For [Getter.Hashes] it can also
	// mean that the lock has no hash for this platform.
	Matched hashing.Hash
	// Authentication is the result of the source's authentication, with its evidence. If the
	// source was not asked, it is what is remembered from an earlier run.
	Authentication getproviders.Authentication
	// Asked reports whether the source was asked, and Location is where it has the package.
	Asked    bool
	Location string
	Bytes    int64
}

// Got is a package that can be placed.
type Got struct {
	Proof
	Package *store.ProviderPackage
	// Warnings are messages about the content for the user. There are none unless the package was
	// unpacked by this call.
	Warnings []string
}

// ErrNotAtHand is returned if a package is not in the store and the source must not be asked.
var ErrNotAtHand = errors.New("the package is not in the user's store")
