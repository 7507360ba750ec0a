package policy

import (
	"fmt"

	"github.com/cotterpin/cotter/internal/text/textform"
)

// MarshalText returns the pattern as it was written; "" for the zero value. The error is nil.
func (p Pattern) MarshalText() (text []byte, err error) { return []byte(p.text), nil }

// UnmarshalText is [ParsePattern]; the empty text is the zero value.
func (p *Pattern) UnmarshalText(text []byte) error { return textform.Set(p, text, ParsePattern) }

// MarshalText returns the pattern. The error is nil.
func (p MirrorPattern) MarshalText() (text []byte, err error) { return []byte(p), nil }

// UnmarshalText parses a pattern as [ParseUserSettings] does; "" is the zero value, which matches nothing.
func (p *MirrorPattern) UnmarshalText(text []byte) error {
	return textform.Set(p, text, parseMirrorPattern)
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
	return textform.Set(v, text, func(word string) (Versions, error) {
		found, known := versionsWords[word]
		if !known {
			return 0, fmt.Errorf("%q is not one of %s", word, "any, range and exact")
		}
		return found, nil
	})
}
