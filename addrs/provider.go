package addrs

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	regaddr "github.com/opentofu/registry-address/v2"
	"github.com/opentofu/svchost"
)

// Provider is the address of a provider in a registry. It is comparable.
type Provider struct {
	Hostname        Hostname
	Namespace, Type string
}

// String returns HOST/NAMESPACE/TYPE with the host in Unicode, as in the lock.
func (p Provider) String() string {
	if p == (Provider{}) {
		return ""
	}
	return p.Hostname.ForDisplay() + "/" + p.Namespace + "/" + p.Type
}

const defaultProviderNamespace = "hashicorp"

// ForDisplay returns the address without the host if that is [DefaultRegistryHost].
func (p Provider) ForDisplay() string {
	if p.Hostname != DefaultRegistryHost {
		return p.String()
	}
	return p.Namespace + "/" + p.Type
}

// Compare orders providers as locks do: by the ASCII host, the namespace and the type, each by its bytes.
func (p Provider) Compare(other Provider) int {
	return cmp.Or(
		strings.Compare(string(p.Hostname), string(other.Hostname)),
		strings.Compare(p.Namespace, other.Namespace),
		strings.Compare(p.Type, other.Type),
	)
}

// ParseProviderSource is [Parser.ParseProviderSource] with the default registry of OpenTofu.
func ParseProviderSource(raw string) (Provider, error) { return Parser{}.ParseProviderSource(raw) }

// ParseProviderSource parses the source of a provider requirement, [HOST/]NAMESPACE/TYPE or TYPE; the
// default namespace is "hashicorp". The error is a *[ParseError].
//
// An address is valid if the dialect's tool accepts it, except for a name that normalization makes empty,
// or that has dots or two dashes afterwards. As in stock tools, an address of one part may have the
// prefix of a repository name ("terraform-null"), but the full address of this provider is not valid; see
// [Parser.AcceptsFullAddress].
func (p Parser) ParseProviderSource(raw string) (Provider, error) {
	found, reason, err := p.readProvider(raw)
	if reason != "" {
		return Provider{}, providerError(raw, reason, err)
	}
	return found, nil
}

func providerError(raw, reason string, err error) *ParseError {
	return &ParseError{What: "provider source address", Input: Redact(raw), Reason: reason, Err: err}
}

// readProvider returns the reason why an address is invalid, and its cause if there is one.
func (p Parser) readProvider(raw string) (_ Provider, reason string, cause error) {
	found, reason, cause := p.splitProvider(raw)
	switch {
	case reason != "":
		return Provider{}, reason, cause
	case found.IsLegacy() && found.Hostname != p.defaultHost():
		return Provider{}, fmt.Sprintf("only %s has the namespace %q", p.defaultHost(), legacyNamespace), nil
	case !strings.Contains(raw, "/"):
		return found, "", nil
	}
	return found, p.prefixFault(found), nil
}

func (p Parser) defaultHost() Hostname { return cmp.Or(p.DefaultRegistryHost, DefaultRegistryHost) }

// splitProvider accepts the full address of every provider that any dialect accepts.
func (p Parser) splitProvider(raw string) (_ Provider, reason string, cause error) {
	parts := strings.Split(raw, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return Provider{}, "it must have the form [HOST/][NAMESPACE/]TYPE", nil
	}
	found := Provider{Hostname: p.defaultHost(), Namespace: defaultProviderNamespace}
	var err error
	if found.Type, err = ParseProviderPart(parts[len(parts)-1]); err != nil {
		return Provider{}, "the type " + err.Error(), err
	}
	if len(parts) > 1 && parts[len(parts)-2] == legacyNamespace {
		found.Namespace = legacyNamespace
	} else if len(parts) > 1 {
		if found.Namespace, err = ParseProviderPart(parts[len(parts)-2]); err != nil {
			return Provider{}, "the namespace " + err.Error(), err
		}
	}
	if len(parts) < 3 {
		return found, "", nil
	}
	compared, err := svchost.ForComparison(parts[0])
	if err != nil {
		return Provider{}, "the host is not valid: " + err.Error(), err
	}
	host := Hostname(compared)
	if reason := hostNameFault(host); reason != "" {
		return Provider{}, "the host is not valid: " + reason, nil
	}
	found.Hostname = host
	return found, "", nil
}

// AcceptsFullAddress reports whether the dialect's tool accepts the full address of a provider that it
// has accepted in the configuration. Otherwise it can install the provider, but not read the lock that it
// has written.
func (p Parser) AcceptsFullAddress(provider Provider) bool {
	again, err := p.ParseProviderSource(provider.String())
	return err == nil && again == provider
}

// ParseProviderPart normalizes a namespace, a type or a module's local name for a provider, as host names
// are normalized: some characters are removed, others become dots. The result must be a valid name too.
func ParseProviderPart(given string) (string, error) {
	if !utf8.ValidString(given) { // the library accepts this but cannot read it back
		return "", errors.New("is not valid UTF-8")
	}
	name, err := regaddr.ParseProviderPart(given)
	if err != nil {
		return "", fmt.Errorf("%q is not valid: %w", Redact(given), err)
	}
	if again, err := regaddr.ParseProviderPart(name); err != nil || again != name {
		return "", fmt.Errorf("%q is not a valid name after normalization", Redact(given))
	}
	return name, nil
}

func (p Parser) prefixFault(provider Provider) string {
	tools := []string{"terraform", "opentofu"}
	if p.isTerraform() {
		tools = tools[:1]
	}
	for _, tool := range tools {
		name, found := strings.CutPrefix(provider.Type, tool+"-")
		if !found {
			continue
		}
		reason := fmt.Sprintf("a type has no prefix %q", tool+"-")
		if name, isProvider := strings.CutPrefix(name, "provider-"); isProvider {
			provider.Type = name
			reason += fmt.Sprintf("; did you mean %q", provider.ForDisplay())
		}
		return reason
	}
	return ""
}

const (
	builtInNamespace = "builtin"
	legacyNamespace  = "-"

	// The hosts of built-in providers. Terraform knows only the first one.
	terraformBuiltInHost = Hostname("terraform.io")
	tofuBuiltInHost      = Hostname("opentofu.org")
)

// IsBuiltIn is [Parser.IsBuiltIn] for OpenTofu.
func (p Provider) IsBuiltIn() bool { return Parser{}.IsBuiltIn(p) }

// IsBuiltIn reports whether a provider is part of the dialect's tool, and not installed:
// terraform.io/builtin/* of both tools, and opentofu.org/builtin/* of OpenTofu. The type is not checked.
func (p Parser) IsBuiltIn(provider Provider) bool {
	if provider.Namespace != builtInNamespace {
		return false
	}
	return provider.Hostname == terraformBuiltInHost || provider.Hostname == tofuBuiltInHost && !p.isTerraform()
}

// IsLegacy reports whether p has the namespace "-" from before Terraform 0.13. No tool installs it.
func (p Provider) IsLegacy() bool { return p.Namespace == legacyNamespace }

func (p Parser) isTerraform() bool { return p.DefaultRegistryHost == TerraformRegistryHost }

// Platform is the system and architecture of a provider's package, in the names of the go command.
type Platform struct{ OS, Arch string }

// CurrentPlatform is the platform of this process.
func CurrentPlatform() Platform { return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH} }

// String returns the form that is used in directories, files and flags: "linux_amd64".
func (p Platform) String() string {
	if p == (Platform{}) {
		return ""
	}
	return p.OS + "_" + p.Arch
}

// ParsePlatform parses OS_ARCH, both in lower-case letters and digits. It does not check whether the
// platform exists. The error is a *[ParseError].
func ParsePlatform(s string) (Platform, error) {
	os, arch, _ := strings.Cut(s, "_")
	for _, part := range []string{os, arch} {
		if part == "" || len(part) > 32 || strings.Trim(part, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return Platform{}, &ParseError{What: "platform", Input: Redact(s), Reason: fmt.Sprintf("it must have the form OS_ARCH, such as %q", CurrentPlatform())}
		}
	}
	return Platform{OS: os, Arch: arch}, nil
}
