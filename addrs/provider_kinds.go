package addrs

const (
	builtInNamespace = "builtin"
	legacyNamespace  = "-"

	// The hosts of built-in providers. Terraform knows only the first one.
	terraformBuiltInHost = Hostname("terraform.io")
	tofuBuiltInHost      = Hostname("opentofu.org")
)

// IsBuiltIn reports whether p is a part of OpenTofu, so that there is nothing to
// install. See [Parser.IsBuiltIn].
func (p Provider) IsBuiltIn() bool { return Parser{}.IsBuiltIn(p) }

// IsBuiltIn reports whether a provider is a part of the dialect's tool, as
// terraform.io/builtin/terraform is of both and opentofu.org/builtin/terraform of
// OpenTofu. The type is not checked.
func (p Parser) IsBuiltIn(provider Provider) bool {
	if provider.Namespace != builtInNamespace {
		return false
	}
	return provider.Hostname == terraformBuiltInHost || provider.Hostname == tofuBuiltInHost && !p.isTerraform()
}

// IsLegacy reports whether p has the namespace "-" of versions before Terraform 0.13.
// Such an address parses, but no tool installs it.
func (p Provider) IsLegacy() bool { return p.Namespace == legacyNamespace }

func (p Parser) isTerraform() bool { return p.DefaultRegistryHost == TerraformRegistryHost }
