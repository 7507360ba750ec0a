package hashing

import (
	"cmp"
	"log/slog"

	"github.com/cotterpin/cotter/internal/text/textform"
)

// MarshalText returns the hash, even a malformed one, as in locks of stock tools. The error is nil.
func (h Hash) MarshalText() (text []byte, err error) { return []byte(h), nil }

// UnmarshalText is [ParseHash]; the empty text is the zero value.
func (h *Hash) UnmarshalText(text []byte) error { return textform.Set(h, text, ParseHash) }

var kinds = map[Kind]string{File: "file", ExecFile: "executable file", Link: "link", EmptyDir: "empty directory"}

// String returns the kind in words, such as "executable file".
func (k Kind) String() string { return cmp.Or(kinds[k], "unknown kind") }

// MarshalText returns [Kind.String], "" for the zero value, or an error for values without a name.
func (k Kind) MarshalText() (text []byte, err error) {
	name, known := kinds[k]
	if !known && k != 0 {
		return nil, errKind
	}
	return []byte(name), nil
}

// UnmarshalText is the inverse of [Kind.MarshalText].
func (k *Kind) UnmarshalText(text []byte) error {
	return textform.Set(k, text, func(name string) (Kind, error) {
		for kind, known := range kinds {
			if known == name {
				return kind, nil
			}
		}
		return 0, errKind
	})
}

// UnmarshalText is [ParseTree].
func (t *Tree) UnmarshalText(text []byte) error {
	parsed, err := ParseTree(text)
	if err == nil {
		*t = *parsed
	}
	return err
}

// LogValue returns the number of entries and the h1 hash.
func (t *Tree) LogValue() slog.Value {
	if t == nil {
		return slog.GroupValue()
	}
	return slog.GroupValue(slog.Int("entries", len(t.Entries)), slog.String("h1", string(t.H1())))
}
