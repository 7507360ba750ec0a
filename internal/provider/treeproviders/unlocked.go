package treeproviders

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getproviders"
	"github.com/cotterpin/cotter/hashing"
	"github.com/cotterpin/cotter/internal/store/providerfetch"
)

// getUnlocked returns the package for this machine if the lock has none of its hashes, as after a run on another
// platform behind a mirror. Unless the user names the platform, as for "providers lock" of stock tools, all locked
// hashes must be those of packages of the same release: otherwise the release may be another one. others are the
// packages for [Stage].Others.
func (s *Stage) getUnlocked(ctx context.Context, p Selected, others []*providerfetch.Proof, mismatch *getproviders.MismatchError) (*providerfetch.Got, error) {
	unknown := providerfetch.Unknown(p.Entry.Hashes, others)
	if len(unknown) > 0 && !s.Own {
		found, err := s.checkLocked(ctx, p)
		switch {
		case err != nil:
			return nil, s.fail(ctx, p, addrs.CurrentPlatform(), fmt.Errorf("%w; the packages for other platforms could not be compared: %w", mismatch, err))
		case len(found.Unknown) > 0:
			return nil, s.fail(ctx, p, addrs.CurrentPlatform(), fmt.Errorf("%w; its source has no package for another platform with %s", mismatch, listed(found.Unknown)))
		}
	}
	want := p.wanted(addrs.CurrentPlatform())
	ruled := p.ruled(ctx, s.Rules)
	got, err := s.Client.unlocked.Do(ruled, s.keyOf(ruled, p.Required, want), func(ctx context.Context) (*providerfetch.Got, error) {
		return s.getter.GetUnlocked(ctx, want)
	})
	if err == nil {
		err = s.Rules.CheckAuthentication(got.Authentication)
	}
	if err != nil {
		return nil, s.fail(ctx, p, addrs.CurrentPlatform(), err)
	}
	if len(unknown) == len(providerfetch.Unknown(p.Entry.Hashes, nil)) && s.Own {
		s.warn(fmt.Sprintf("provider %s %s: the hashes that the lock had are those of no package for %s; they stay, and those of these packages are added",
			p.Address.ForDisplay(), p.Version, listed(append(slices.Clone(s.Others), addrs.CurrentPlatform()))))
	}
	return got, nil
}

func listed[T hashing.Hash | addrs.Platform](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = fmt.Sprint(one)
	}
	return strings.Join(texts, ", ")
}
