package advice

var (
	HostOf         = hostOf
	RegistryLogin  = registryLogin
	TrustAuthority = trustAuthority
)
