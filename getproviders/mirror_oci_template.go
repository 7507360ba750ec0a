package getproviders

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// RepositoryTemplate determines the repository of a provider in an OCI registry, such as
// "example.com/mirror/${hostname}/${namespace}/${type}". The zero value has none.
type RepositoryTemplate struct {
	text string
	// parts alternates between text and names of parts of the address.
	parts []string
}

var templateNames = []string{"hostname", "namespace", "type"}

// repositoryAddress matches HOST[:PORT]/PATH, with the path of the OCI distribution specification.
var repositoryAddress = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$`)

// ParseRepositoryTemplate parses a text in which ${hostname}, ${namespace} and ${type} stand for the parts
// of a provider's address. The result must be HOST[:PORT]/PATH. The error is an *[addrs.ParseError].
func ParseRepositoryTemplate(s string) (RepositoryTemplate, error) {
	fault := func(format string, args ...any) (RepositoryTemplate, error) {
		return RepositoryTemplate{}, &addrs.ParseError{What: "repository template", Input: addrs.Redact(s), Reason: fmt.Sprintf(format, args...)}
	}
	t := RepositoryTemplate{text: s}
	rest := s
	for {
		before, after, found := strings.Cut(rest, "${")
		if t.parts = append(t.parts, before); !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		if name = strings.TrimSpace(name); !closed || !slices.Contains(templateNames, name) {
			return fault("only ${hostname}, ${namespace} and ${type} can be in it")
		}
		t.parts = append(t.parts, name)
		rest = after
	}
	if sample := t.expand("example.com", "namespace", "type"); !repositoryAddress().MatchString(sample) {
		return fault("it does not make the address of a repository: %q", sample)
	}
	return t, nil
}

func (t RepositoryTemplate) String() string { return t.text }

// MarshalText returns the text that was parsed. The error is nil.
func (t RepositoryTemplate) MarshalText() (text []byte, err error) { return []byte(t.text), nil }

// UnmarshalText is ParseRepositoryTemplate; the empty text is the zero value.
func (t *RepositoryTemplate) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*t = RepositoryTemplate{}
		return nil
	}
	*t, err = ParseRepositoryTemplate(string(text))
	return err
}

// LogValue returns the template as a string.
func (t RepositoryTemplate) LogValue() slog.Value { return slog.StringValue(t.text) }

// Has reports whether the template has a part: "hostname", "namespace" or "type".
func (t RepositoryTemplate) Has(name string) bool {
	for i := 1; i < len(t.parts); i += 2 {
		if t.parts[i] == name {
			return true
		}
	}
	return false
}

// Expand returns the registry, HOST or HOST:PORT, and the path of a provider's repository. It fails for
// characters that repositories cannot have, such as the ":" of a port.
func (t RepositoryTemplate) Expand(provider addrs.Provider) (host, path string, err error) {
	hostname, _, _ := strings.Cut(provider.String(), "/") // in Unicode, as in stock tools
	address := t.expand(hostname, provider.Namespace, provider.Type)
	if !repositoryAddress().MatchString(address) {
		return "", "", fmt.Errorf("%w: %q is not the address of a repository of an OCI registry", ErrNotFound, address)
	}
	host, path, _ = strings.Cut(address, "/")
	return host, path, nil
}

func (t RepositoryTemplate) expand(hostname, namespace, typ string) string {
	var address strings.Builder
	for i, part := range t.parts {
		switch {
		case i%2 == 0:
			address.WriteString(part)
		case part == "hostname":
			address.WriteString(hostname)
		case part == "namespace":
			address.WriteString(namespace)
		default:
			address.WriteString(typ)
		}
	}
	return address.String()
}
