package versions

import (
	"fmt"
	"strings"

	"github.com/cotterpin/cotter/internal/text/textform"
)

// MarshalText returns [Version.String]. The error is nil.
func (v Version) MarshalText() (text []byte, err error) { return []byte(v.canonical), nil }

// UnmarshalText is [Parse]; the empty text is the zero value.
func (v *Version) UnmarshalText(text []byte) error { return textform.Set(v, text, Parse) }

// MarshalText returns [Constraints.String]. The error is nil.
func (c Constraints) MarshalText() (text []byte, err error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseConstraints]; the empty text is the zero value.
func (c *Constraints) UnmarshalText(text []byte) error {
	return textform.Set(c, text, ParseConstraints)
}

// MarshalText returns [ProviderConstraints.String]. The error is nil.
func (c ProviderConstraints) MarshalText() (text []byte, err error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseProviderConstraints], but allows combined constraints of up to 64 KiB, or none.
func (c *ProviderConstraints) UnmarshalText(text []byte) error {
	return textform.Set(c, text, parseCombined)
}

// maxCombinedBytes is enough for some thousand modules that all require other versions.
const maxCombinedBytes = 64 << 10

func parseCombined(s string) (ProviderConstraints, error) {
	if len(s) <= maxConstraintsBytes {
		return ParseProviderConstraints(s)
	}
	if len(s) > maxCombinedBytes {
		return ProviderConstraints{}, constraintError(s, s, fmt.Sprintf("combined version constraints have at most %d bytes", maxCombinedBytes))
	}
	var parts []ProviderConstraints
	for part := range strings.SplitSeq(s, ",") {
		parsed, err := ParseProviderConstraints(part)
		if err != nil {
			return ProviderConstraints{}, err
		}
		parts = append(parts, parsed)
	}
	return ProviderConstraints{}.And(parts...), nil
}
