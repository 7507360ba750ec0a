package addrs

const (
	builtInNamespace = "builtin"
	legacyNamespace  = "-"

	// The hosts of built-in providers. Terraform knows only the first one.
	terraformBuiltInHost = Hostname("terraform.io")
	tofuBuiltInHost      = Hostname("opentofu.org")
)

// IsBuiltIn reports whether p is part of OpenTofu, so that it is not installed. See
// [Parser.IsBuiltIn].
func (p Provider) IsBuiltIn() bool { return Parser{}.IsBuiltIn(p) }

// IsBuiltIn reports whether a provider is part of the dialect's tool.
// terraform.io/builtin/terraform is part of both tools, and opentofu.org/builtin/terraform
// is part of OpenTofu. The type is not checked.
func (p Parser) IsBuiltIn(provider Provider) bool {
	if provider.Namespace != builtInNamespace {
		return false
	}
	return provider.Hostname == terraformBuiltInHost || provider.Hostname == tofuBuiltInHost && !p.isTerraform()
}

// IsLegacy reports whether p has the namespace "-" of versions before Terraform 0.13. Such
// an address can be parsed, but no tool installs the provider.
func (p Provider) IsLegacy() bool { return p.Namespace == legacyNamespace }

func (p Parser) isTerraform() bool { return p.DefaultRegistryHost == TerraformRegistryHost }
