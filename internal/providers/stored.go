package providers

import (
	"context"
	"errors"
	"iter"
	"os"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/internal/providerstore"
)

// Offer is a package of a bundle or a mirror that claims to have one of the lock's hashes.
type Offer struct {
	// Package is the package, or nil if it cannot be used. Err is the reason in that case.
	Package getproviders.Package
	Err     error
	// Distrust is the reason why the offer is not trusted to confirm the package, or nil if it is
	// trusted. An untrusted offer delivers only the bytes of an archive that the source proves, or
	// that this user has got before.
	Distrust error
}

// Offers returns the offers of bundles and mirrors for a wanted package, in order of precedence.
// The lock must have hashes of the package.
type Offers func(ctx context.Context, want Want) iter.Seq[Offer]

// fromOffers gets a package from an offer. If that fails, it returns the offers that can only
// deliver bytes, and the reasons why the others cannot be used.
func (g *Getter) fromOffers(ctx context.Context, want Want) (_ *Got, deliver []Offer, reasons []error) {
	if g.Offers == nil || len(recognised(want.Locked)) == 0 {
		return nil, nil, nil
	}
	refuse := func(err error) {
		reasons = append(reasons, err)
		if !g.Offline { // offline, they become the error
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

// gotBefore returns what the source has stated about a package, if this user has got the same
// archive before for the wanted release.
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

// deliveredPackage is a package of the source whose archive is downloaded from offers.
type deliveredPackage struct {
	getproviders.Package
	from   []Offer
	refuse func(error)
}

// delivered returns the source's package with a Download method that takes the archive from those
// offers that have the same one. If no offer has it, the package is returned unchanged.
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

// notAtHand returns the error for a package that is not in the store while the source must not be
// asked. reasons are the reasons why offered packages cannot be used.
func notAtHand(reasons []error) error {
	if len(reasons) == 0 {
		return ErrNotAtHand
	}
	return errors.Join(reasons...)
}
