package addrs

import (
	"fmt"
	"log/slog"
	"slices"

	"github.com/cotterpin/cotter/internal/text/textform"
)

// The zero value of each type has the empty text. A value from a parser has a text that is parsed as the
// same value. An invalid value, which a program made, has no text.

func textOf[T comparable](v T, what, text string, parse func(string) (T, error)) ([]byte, error) {
	var zero T
	if v == zero {
		return []byte{}, nil
	}
	again, err := parse(text)
	if err != nil {
		return nil, err
	}
	if again != v {
		return nil, &ParseError{What: what, Input: Redact(text), Reason: "it is not in normal form"}
	}
	return []byte(text), nil
}

// MarshalText returns [Hostname.ForDisplay]. If that is not a valid host, the error is a *[ParseError].
func (h Hostname) MarshalText() (text []byte, err error) {
	return textOf(h, "hostname", h.ForDisplay(), ParseHostname)
}

// UnmarshalText is [ParseHostname].
func (h *Hostname) UnmarshalText(text []byte) error { return textform.Set(h, text, ParseHostname) }

// MarshalText returns [Module.String]. If m has an invalid name, the error is a *[ParseError].
func (m Module) MarshalText() (text []byte, err error) {
	again, err := ParseModule(m.String())
	if err != nil {
		return nil, err
	}
	if !slices.Equal(again, m) {
		return nil, &ParseError{What: "module path", Input: m.String(), Reason: "a name is empty or has a dot"}
	}
	return []byte(m.String()), nil
}

// UnmarshalText is [ParseModule].
func (m *Module) UnmarshalText(text []byte) error { return textform.Set(m, text, ParseModule) }

// MarshalText returns the path, or a *[ParseError] if it is not a local path in normal form.
func (s ModuleSourceLocal) MarshalText() (text []byte, err error) {
	return textOf(s, "local path", string(s), parseLocalText)
}

// UnmarshalText accepts the local paths that [ParseModuleSource] accepts.
func (s *ModuleSourceLocal) UnmarshalText(text []byte) error {
	return textform.Set(s, text, parseLocalText)
}

func parseLocalText(raw string) (ModuleSourceLocal, error) {
	if !isLocal(raw) {
		return "", &ParseError{What: "local path", Input: Redact(raw), Reason: "it must begin with ./ or ../"}
	}
	return parseLocal(raw), nil
}

// MarshalText returns [ModuleSourceRegistry.String], or a *[ParseError] if that is not a valid address.
func (s ModuleSourceRegistry) MarshalText() (text []byte, err error) {
	return textOf(s, "module registry address", s.String(), ParseModuleSourceRegistry)
}

// UnmarshalText is [ParseModuleSourceRegistry].
func (s *ModuleSourceRegistry) UnmarshalText(text []byte) error {
	return textform.Set(s, text, ParseModuleSourceRegistry)
}

// MarshalText returns [ModuleRegistryPackage.String], or a *[ParseError] if that is not a valid address.
func (p ModuleRegistryPackage) MarshalText() (text []byte, err error) {
	return textOf(p, "module registry address", p.String(), parseRegistryPackage)
}

// UnmarshalText is [ParseModuleSourceRegistry] for addresses without a subdirectory.
func (p *ModuleRegistryPackage) UnmarshalText(text []byte) error {
	return textform.Set(p, text, parseRegistryPackage)
}

func parseRegistryPackage(raw string) (ModuleRegistryPackage, error) {
	source, err := ParseModuleSourceRegistry(raw)
	if err != nil {
		return ModuleRegistryPackage{}, err
	}
	if source.Subdir != "" {
		return ModuleRegistryPackage{}, registryError(raw, "the address of a package has no subdirectory", nil)
	}
	return source.Package, nil
}

// ModuleSourceText is a source address of any kind in a field that is read from text or JSON, because
// no text can be read into an interface. nil has the empty text.
type ModuleSourceText struct{ ModuleSource }

// MarshalText returns the text of the address.
func (t ModuleSourceText) MarshalText() (text []byte, err error) {
	if t.ModuleSource == nil {
		return []byte{}, nil
	}
	return t.ModuleSource.MarshalText()
}

// UnmarshalText is [ParseModuleSource].
func (t *ModuleSourceText) UnmarshalText(text []byte) error {
	return textform.Set(&t.ModuleSource, text, ParseModuleSource)
}

// MarshalText returns [ModulePackage.WithoutCredentials], so UnmarshalText does not restore credentials;
// a program with a safe place for them stores String. The error is nil.
func (p ModulePackage) MarshalText() (text []byte, err error) {
	return []byte(p.WithoutCredentials().String()), nil
}

// UnmarshalText is [ParseModulePackage]. The error is nil.
func (p *ModulePackage) UnmarshalText(text []byte) error {
	*p = ParseModulePackage(string(text))
	return nil
}

// LogValue returns [ModulePackage.Redacted] as a string.
func (p ModulePackage) LogValue() slog.Value { return slog.StringValue(p.Redacted()) }

// Format implements [fmt.Formatter]. All verbs print [ModulePackage.Redacted].
func (p ModulePackage) Format(state fmt.State, verb rune) { format(state, verb, p.Redacted()) }

// MarshalText leaves out credentials, as [ModulePackage.MarshalText] does. The error is nil. Some
// malformed addresses that detection leaves, such as "a:b//", are not parsed as the same value.
func (s ModuleSourceRemote) MarshalText() (text []byte, err error) {
	s.Package = s.Package.WithoutCredentials()
	return []byte(s.String()), nil
}

// UnmarshalText accepts the addresses of remote packages that [ParseModuleSource] accepts.
func (s *ModuleSourceRemote) UnmarshalText(text []byte) error {
	return textform.Set(s, text, ParseModuleSourceRemote)
}

// LogValue returns [ModuleSourceRemote.ForDisplay] as a string.
func (s ModuleSourceRemote) LogValue() slog.Value { return slog.StringValue(s.ForDisplay()) }

// Format implements [fmt.Formatter]. All verbs print [ModuleSourceRemote.ForDisplay].
func (s ModuleSourceRemote) Format(state fmt.State, verb rune) { format(state, verb, s.ForDisplay()) }

func format(state fmt.State, verb rune, text string) {
	fmt.Fprintf(state, fmt.FormatString(state, verb), text)
}

// MarshalText returns [Provider.String], or a *[ParseError] if that is not a valid address.
func (p Provider) MarshalText() (text []byte, err error) {
	return textOf(p, "provider source address", p.String(), parseProviderText)
}

// UnmarshalText is [ParseProviderSource], but accepts the full address of every dialect.
func (p *Provider) UnmarshalText(text []byte) error { return textform.Set(p, text, parseProviderText) }

func parseProviderText(raw string) (Provider, error) {
	found, reason, err := Parser{}.splitProvider(raw)
	if reason != "" {
		return Provider{}, providerError(raw, reason, err)
	}
	return found, nil
}

// MarshalText returns [Platform.String]. If that is not valid, the error is a *[ParseError].
func (p Platform) MarshalText() (text []byte, err error) {
	return textOf(p, "platform", p.String(), ParsePlatform)
}

// UnmarshalText is [ParsePlatform].
func (p *Platform) UnmarshalText(text []byte) error { return textform.Set(p, text, ParsePlatform) }
