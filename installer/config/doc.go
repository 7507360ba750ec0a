// Package config has what an installer and a reader of configuration tell each other: the calls and
// the provider requirements of a module, the values that they may depend on, the errors about a call or a
// configuration, the versions in calls that can be edited, and the changes of what a module declares to its callers.
//
// Package installer reads configuration by itself. Three kinds of programs need this package:
//
//   - A tool with a parser of its own implements [Reader] and sets it as installer.Options.Config.
//     installer.DefaultConfigReader returns the usual reader, for tools that wrap it.
//   - A tool with variables sets [Inputs] in its projects. Sources and versions may depend on them.
//   - A tool that shows what an update means to a caller reads [InterfaceChange].
//
// The package parses nothing, reads no files and has no state.
package config
