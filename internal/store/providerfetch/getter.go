package providerfetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/installer/evidence"
	"github.com/cotterpin/cotter/internal/rules/evidencerules"
	"github.com/cotterpin/cotter/internal/store"
	"github.com/cotterpin/cotter/versions"
)

// Getter gets packages. Its fields must not change while it is in use. It is safe for concurrent use, and
// limits its own transfers and unpackings, so callers may ask for all packages at once.
type Getter struct {
	Source getproviders.Source
	Store  *store.Providers
	// PluginCache is that of stock tools, if any. It delivers packages and confirms nothing.
	PluginCache getproviders.PluginCache
	// Installed is the project's directory of providers, or "". It delivers and confirms nothing, either.
	Installed string
	// Offers, which may be nil, are tried before PluginCache and Source if the lock has hashes.
	Offers Offers
	// Offline forbids requests. If a package is not at hand, the error wraps [ErrNotAtHand].
	Offline bool
	// Rule says which evidence is enough. The zero value accepts none; the error is a
	// *[getproviders.UnconfirmedError].
	Rule evidencerules.Rule
	// Stores is the evidence that Offers give. What others confirmed in earlier runs does not count.
	Stores []evidence.Evidence
	// Accept decides whether a proof suffices, before the package is unpacked, and also for one from an
	// earlier run. nil accepts all.
	Accept func(getproviders.Authentication) error
	// Complete says that the lock may change. [Proof].Hashes are then all that the source confirms, also
	// for a package from an earlier run.
	Complete bool
	// Slots may be shared by several Getters; nil means its own.
	Slots *Slots
	// OnEvent may be nil. Several goroutines may call it at once.
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

type Want struct {
	Provider addrs.Provider
	Version  versions.Version
	Platform addrs.Platform
	// Locked are the lock's hashes for this version, or nil.
	Locked []hashing.Hash
}

// matched returns the first of a package's own hashes that the lock has, or "".
func (w Want) matched(own ...hashing.Hash) hashing.Hash {
	for _, h := range own {
		if h != "" && slices.Contains(w.Locked, h) {
			return h
		}
	}
	return ""
}

func (w Want) statement() string {
	return store.ReleaseStatement(w.Provider, w.Version, w.Platform)
}

type Proof struct {
	// Archive is its zh; "" if the package was found by its h1, or is a directory.
	Archive hashing.Hash
	H1      hashing.Hash
	// Hashes are those to add to the lock: H1, then what the source has confirmed, sorted. With
	// [Getter].Complete, they depend only on the source, and not on the store. With [Getter].Offers and
	// locked hashes, it is H1 alone, because the source need not be reachable.
	Hashes []hashing.Hash
	// Incomplete is why Hashes may lack some that the source confirms, or nil.
	Incomplete error
	// Matched is the locked hash that the package has. "" means that the lock, without h1 and zh for this
	// version, does not prove it, and for [Getter.Hashes] possibly that it has none for this platform.
	Matched hashing.Hash
	// Authentication is that of the source, or what is remembered of an earlier run.
	Authentication getproviders.Authentication
	// Asked reports whether the source was asked; Location is where it has the package.
	Asked    bool
	Location string
	Bytes    int64
}

// Got is a package that can be placed.
type Got struct {
	Proof
	Package *store.ProviderPackage
	// Warnings are about the content, if this call has unpacked it.
	Warnings []string
}

// ErrNotAtHand says that a package is not in the store, and that the source must not be asked.
var ErrNotAtHand = errors.New("the package is not in the user's store")

// Slots limits the concurrent work of Getters. It must not be copied.
type Slots struct {
	once  sync.Once
	slots [2]chan struct{} // by kind
}

// transfers are concurrent downloads. One archive per processor is unpacked or hashed.
const transfers = 16

type slotKind int

const (
	transfer slotKind = iota
	unpacking
)

func (s *Slots) wait(ctx context.Context, kind slotKind) (done func(), err error) {
	s.once.Do(func() {
		s.slots = [2]chan struct{}{transfer: make(chan struct{}, transfers), unpacking: make(chan struct{}, runtime.GOMAXPROCS(0))}
	})
	select {
	case s.slots[kind] <- struct{}{}:
		return func() { <-s.slots[kind] }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
