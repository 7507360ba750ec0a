package policy

import (
	"fmt"
	"time"
)

// CheckAge judges a version by when it was published; the zero time is of an
// origin without dates, and passes.
func (p *Policy) CheckAge(version string, published, now time.Time) error {
	if p == nil || published.IsZero() || now.Sub(published) >= p.MinAge {
		return nil
	}
	const day = "2006-01-02"
	return p.violation(argMinAge, fmt.Sprintf("version %s was published on %s and is to be used from %s on",
		version, published.UTC().Format(day), published.Add(p.MinAge).UTC().Format(day)))
}
