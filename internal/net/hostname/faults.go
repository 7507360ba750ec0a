package hostname

// Unreachable is the text for a host that cannot be reached. The reason is in a few words.
func Unreachable(host, reason string) string { return host + " cannot be reached: " + reason }

// UntrustedCertificate is the text for a host whose certificate is refused. The fault is such as "it has expired", or "".
func UntrustedCertificate(host, fault string) string {
	if fault != "" {
		fault = ": " + fault
	}
	return host + "'s certificate is not trusted" + fault
}
