// Package treeproviders selects and installs the providers that the modules of a tree require together.
// A provider is a [config.ProviderRequirement] in each place that requires it, then one [Required] with
// pooled constraints, then [Selected], then [Planned]. A [Stage] starts requests as soon as the first
// module requires a provider, and returns a [Plan] that has not changed anything yet. A [Client]
// remembers the answers of sources, so that several projects cause only one request.
package treeproviders
