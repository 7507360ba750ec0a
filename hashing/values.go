package hashing

import "log/slog"

// MarshalText returns the hash, even a malformed one, as in locks of stock tools. The error is nil.
func (h Hash) MarshalText() (text []byte, err error) { return []byte(h), nil }

// UnmarshalText is [ParseHash]; the empty text is the zero value.
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = ""
		return nil
	}
	parsed, err := ParseHash(string(text))
	if err == nil {
		*h = parsed
	}
	return err
}

// LogValue returns the hash as a string.
func (h Hash) LogValue() slog.Value { return slog.StringValue(string(h)) }

// MarshalText returns [Kind.String], "" for the zero value, or an error for values without a name.
func (k Kind) MarshalText() (text []byte, err error) {
	switch k {
	case 0:
		return []byte{}, nil
	case File, ExecFile, Link, EmptyDir:
		return []byte(k.String()), nil
	}
	return nil, errKind
}

// UnmarshalText is the inverse of [Kind.MarshalText].
func (k *Kind) UnmarshalText(text []byte) error {
	for _, known := range [...]Kind{File, ExecFile, Link, EmptyDir} {
		if string(text) == known.String() {
			*k = known
			return nil
		}
	}
	if len(text) > 0 {
		return errKind
	}
	*k = 0
	return nil
}

// LogValue returns the kind in words.
func (k Kind) LogValue() slog.Value { return slog.StringValue(k.String()) }

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
