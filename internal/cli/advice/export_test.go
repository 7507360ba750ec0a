package advice

var (
	RegistryLogin  = registryLogin
	TrustAuthority = trustAuthority
)
