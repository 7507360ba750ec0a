package policy

import (
	"fmt"
	"log/slog"
)

// MarshalText returns the pattern as it was written; "" for the zero value. The error is nil.
func (p Pattern) MarshalText() (text []byte, err error) { return []byte(p.text), nil }

// UnmarshalText is [ParsePattern]; the empty text is the zero value.
func (p *Pattern) UnmarshalText(text []byte) error { return setText(p, text, ParsePattern) }

// LogValue returns the pattern as a string.
func (p Pattern) LogValue() slog.Value { return slog.StringValue(p.text) }

// MarshalText returns the pattern. The error is nil.
func (p MirrorPattern) MarshalText() (text []byte, err error) { return []byte(p), nil }

// UnmarshalText parses a pattern as [ParseUserSettings] does; "" is the zero value, which matches nothing.
func (p *MirrorPattern) UnmarshalText(text []byte) error {
	return setText(p, text, parseMirrorPattern)
}

// LogValue returns the pattern as a string.
func (p MirrorPattern) LogValue() slog.Value { return slog.StringValue(string(p)) }

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

var versionsWords = map[string]Versions{"any": VersionsAny, "range": VersionsRange, "exact": VersionsExact}

// String returns the value of the argument versions: "any", "range" or "exact".
func (v Versions) String() string {
	for word, value := range versionsWords {
		if value == v {
			return word
		}
	}
	return fmt.Sprintf("Versions(%d)", int(v))
}

// MarshalText returns [Versions.String]. The error is not nil for values without a name.
func (v Versions) MarshalText() (text []byte, err error) {
	if _, known := versionsWords[v.String()]; !known {
		return nil, fmt.Errorf("%s has no name", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText is the inverse of [Versions.MarshalText]. The empty text is the zero value.
func (v *Versions) UnmarshalText(text []byte) error {
	return setText(v, text, func(word string) (Versions, error) {
		found, known := versionsWords[word]
		if !known {
			return 0, fmt.Errorf("%q is not one of %s", word, "any, range and exact")
		}
		return found, nil
	})
}

// LogValue returns the name as a string.
func (v Versions) LogValue() slog.Value { return slog.StringValue(v.String()) }
