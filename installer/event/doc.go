// Package event has the events of a run of Cotter: what was selected, what is fetched, what has
// changed in the project, and what the user must know.
//
// The field OnEvent of installer.Project receives the events of its runs one after another, never two at
// once. A callback that several runs share, such as installer.Options.OnEvent, may be called by
// several runs at once. Events do not influence the run, but the run waits for the callback, which
// must return quickly.
//
// Events are values: a callback gets structs, never pointers, so a type switch has cases such as [Warning]. It may keep
// them, and must not change the slices in them. They can be stored as JSON.
//
// The events of one module arrive in the order in which things happened: [Resolved], then
// [PackageNeeded] if its package must be fetched, then [HashVerified] if the lock has hashes, then
// [ModuleReady], and [ModuleInstalled] after the whole run has succeeded. The events of a fetch name
// its package: [FetchStarted], [FetchProgress] and [FetchDone]. Those of a provider name the provider
// and its version: [ProviderResolved], [ProviderProgress], [ProviderReady] and [ProviderInstalled].
//
// No event contains credentials. Text from other sources, such as the names of files and the answers
// of servers, is not sanitized and must be escaped before it is shown on a terminal.
package event
