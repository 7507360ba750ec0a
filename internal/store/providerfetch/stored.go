package providerfetch

import (
	"context"
	"iter"
	"os"

	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/installer/evidence"
)

// Offer is a package of a bundle or a mirror that claims to have one of the lock's hashes.
type Offer struct {
	// Package is nil if it cannot be used; Err is the reason.
	Package getproviders.Package
	Err     error
	// Trusted reports whether the offer confirms the package. Otherwise it delivers only the bytes of an
	// archive that the source proves, or that this user has got before.
	Trusted bool
}

// Offers returns offers in order of precedence. The lock must have hashes of the package.
type Offers func(ctx context.Context, want Want) iter.Seq[Offer]

func (s *search) askOffers(ctx context.Context) evidence.Evidence {
	if got, ok, _ := s.fromOffers(ctx); ok {
		return got.Authentication.Evidence
	}
	return evidence.Evidence{}
}

// fromOffers asks the offers once. It confirms the package, unless an earlier run has evidence for its
// archive. The error is that of the context.
func (s *search) fromOffers(ctx context.Context) (*Got, bool, error) {
	if s.asked || s.Offers == nil || len(recognized(s.want.Locked)) == 0 {
		return s.offered, s.offered != nil, ctx.Err()
	}
	s.asked = true
	for offer := range s.Offers(ctx, s.want) {
		if ctx.Err() != nil {
			break
		}
		if offer.Err != nil {
			s.refuse(offer.Err)
			continue
		}
		switch {
		case s.release.Archive != "" && s.release.Archive == offer.Package.Archive():
			offer.Package = rememberedPackage{offer.Package, authentication(s.release)}
		case !offer.Trusted:
			s.deliver = append(s.deliver, offer)
			continue
		}
		j := newJob(s.Getter, s.want, offer.Package)
		j.offered = true
		got, err := j.run(ctx)
		if err == nil {
			s.offered, s.deliver = got, nil
			break
		}
		if ctx.Err() == nil {
			s.refuse(err)
		}
	}
	return s.offered, s.offered != nil, ctx.Err()
}

func (s *search) refuse(err error) {
	s.reasons = append(s.reasons, err)
	if !s.Offline { // offline, the reasons become the error
		s.refused(s.want, err)
	}
}

type deliveredPackage struct {
	getproviders.Package
	from   []Offer
	refuse func(error)
}

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
	return &deliveredPackage{pkg, same, func(err error) { g.refused(want, err) }}
}

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
