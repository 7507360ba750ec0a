// Package treeproviders selects and installs the providers that the modules of a tree
// require together.
//
// [Requirements] collects what the modules require while the tree is walked, and pools it:
// one set of constraints for each provider. Providers that no module requires may still be
// needed, by the state or by another state than the one that is known: [FindUnrequired]
// tells. A [Stage] has the providers asked for as soon as the first module requires them;
// at the end it selects a version for each, which stays the locked one as long as it fits,
// and gets and checks the packages. The [Plan] that it returns has changed nothing yet: it
// has the lock's entries as they are to be, and places the packages.
//
// What is asked of sources is asked once in a [Session], whichever projects need it.
package treeproviders
