package versions

import (
	"fmt"
	"log/slog"
	"strings"
)

// MarshalText returns [Version.String]. The error is nil.
func (v Version) MarshalText() (text []byte, err error) { return []byte(v.canonical), nil }

// UnmarshalText is [Parse]; the empty text is the zero value.
func (v *Version) UnmarshalText(text []byte) error { return setText(v, text, Parse) }

// LogValue returns the canonical form as a string.
func (v Version) LogValue() slog.Value { return slog.StringValue(v.canonical) }

// MarshalText returns [Constraints.String]. The error is nil.
func (c Constraints) MarshalText() (text []byte, err error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseConstraints]; the empty text is the zero value.
func (c *Constraints) UnmarshalText(text []byte) error { return setText(c, text, ParseConstraints) }

// LogValue returns the constraints as a string.
func (c Constraints) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns [ProviderConstraints.String]. The error is nil.
func (c ProviderConstraints) MarshalText() (text []byte, err error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseProviderConstraints], but allows combined constraints of up to 64 KiB, or none.
func (c *ProviderConstraints) UnmarshalText(text []byte) error {
	return setText(c, text, parseCombined)
}

// LogValue returns the constraints as a string.
func (c ProviderConstraints) LogValue() slog.Value { return slog.StringValue(c.String()) }

func setText[T any](to *T, text []byte, parse func(string) (T, error)) error {
	var parsed T
	if len(text) > 0 {
		var err error
		if parsed, err = parse(string(text)); err != nil {
			return err
		}
	}
	*to = parsed
	return nil
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
