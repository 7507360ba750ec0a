package policy

import (
	"fmt"
	"time"
)

// CheckAge checks the age of a version by its time of publication. The zero time, for an
// origin that does not provide dates, is allowed.
func (p *Policy) CheckAge(version string, published, now time.Time) error {
	if p == nil || published.IsZero() || now.Sub(published) >= p.MinAge {
		return nil
	}
	const day = "2006-01-02"
	return p.violation(argMinAge, fmt.Sprintf("version %s was published on %s and may be used from %s on",
		version, published.UTC().Format(day), published.Add(p.MinAge).UTC().Format(day)))
}
