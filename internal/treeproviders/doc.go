// Package treeproviders selects and installs the providers that the modules of a tree require
// together.
//
// While the tree is walked, [Requirements] collects what the modules require, and pools it into
// one set of constraints for each provider. [FindUnrequired] finds further providers that no
// module requires: those that the state needs, and those that are only in the lock.
//
// A [Stage] starts requests for a provider as soon as the first module requires it. At the end it
// selects a version of each provider, and gets and checks the packages. A locked version stays
// selected as long as it meets the constraints. The stage returns a [Plan], which has not changed
// anything yet: it has the new entries of the lock, and installs the packages when it is told to.
//
// So a provider is a [config.ProviderRequirement] in each place that requires it, then one
// [Required], then [Selected], then [Planned].
//
// A [Client] asks sources and remembers their answers, so that several projects cause only one
// request.
package treeproviders
