package providers

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/providerstore"
)

// Offer is a package of a bundle or a mirror that has a hash of the lock, as it says.
type Offer struct {
	// Package is the package; nil if it cannot be used; Err says why.
	Package getproviders.Package
	Err     error
	// Distrust is why it is not believed as the source is; nil if it is. Then only the bytes
	// of the archive are used, of a package that the source proves or that this user got
	// before.
	Distrust error
}

// Offers returns the packages that bundles and mirrors have of a wanted one, whose lock has
// hashes, in the order of their precedence.
type Offers func(ctx context.Context, want Want) iter.Seq[Offer]

// fromOffers gets a package that is offered. It returns the offers that only deliver, and
// why others cannot be used.
func (g *Getter) fromOffers(ctx context.Context, want Want) (_ *Got, deliver []Offer, reasons []error) {
	if g.Offers == nil || len(recognised(want.Locked)) == 0 {
		return nil, nil, nil
	}
	refuse := func(err error) {
		reasons = append(reasons, err)
		if !g.Offline { // else they are the error
			g.tell(Event{Want: want, Kind: Refused, Err: err})
		}
	}
	for offer := range g.Offers(ctx, want) {
		if ctx.Err() != nil {
			return nil, nil, []error{ctx.Err()}
		}
		if offer.Err != nil {
			refuse(offer.Err)
			continue
		}
		release, wasGot := g.gotBefore(want, offer.Package)
		switch {
		case wasGot:
			offer.Package = rememberedPackage{offer.Package, authentication(release)}
		case offer.Distrust != nil:
			g.tell(Event{Want: want, Kind: Distrusted, Location: offer.Package.Location(), Err: offer.Distrust})
			deliver = append(deliver, offer)
			continue
		}
		j := newJob(g, want, offer.Package)
		j.offered = true
		got, err := j.run(ctx)
		if err == nil {
			return got, nil, nil
		}
		if ctx.Err() != nil {
			return nil, nil, []error{ctx.Err()}
		}
		refuse(err)
	}
	return nil, deliver, reasons
}

// gotBefore returns what the source has said of a package, if this user got its archive
// before as that of the wanted release.
func (g *Getter) gotBefore(want Want, pkg getproviders.Package) (providerstore.Release, bool) {
	release, ok := g.Store.Release(want.Provider, want.Version, want.Platform)
	return release, ok && release.Archive != "" && release.Archive == pkg.Archive() && g.Store.Matches(release.H1, want.Locked) != ""
}

// rememberedPackage is a package that was proven when this user got it before.
type rememberedPackage struct {
	getproviders.Package
	auth getproviders.Authentication
}

// Authenticate implements [getproviders.Package].
func (p rememberedPackage) Authenticate(context.Context) (getproviders.Authentication, error) {
	return p.auth, nil
}

// deliveredPackage is a package of the source whose archive is taken from elsewhere.
type deliveredPackage struct {
	getproviders.Package
	from   []Offer
	refuse func(error)
}

// delivered returns a package of the source that is taken from offers, as far as they have
// the same archive.
func (g *Getter) delivered(want Want, pkg getproviders.Package, offers []Offer) getproviders.Package {
	var same []Offer
	for _, offer := range offers {
		if archive := pkg.Archive(); archive != "" && archive == offer.Package.Archive() {
			same = append(same, offer)
		}
	}
	if len(same) == 0 {
		return pkg
	}
	return &deliveredPackage{pkg, same, func(err error) { g.tell(Event{Want: want, Kind: Refused, Err: err}) }}
}

// Download implements [getproviders.Package].
func (p *deliveredPackage) Download(ctx context.Context, file *os.File, progress func(done, total int64)) error {
	for _, offer := range p.from {
		err := offer.Package.Download(ctx, file, progress)
		if err == nil || ctx.Err() != nil {
			return err
		}
		p.refuse(err)
	}
	return p.Package.Download(ctx, file, progress)
}

// notAtHand is the error for a package that may not be asked for, with the reasons why
// those that are at hand cannot be used.
func notAtHand(reasons []error) error {
	if len(reasons) == 0 {
		return ErrNotAtHand
	}
	return errors.Join(reasons...)
}
