// Package versions parses versions and version constraints of modules and providers, and selects one of the
// versions that an origin offers in a registry's list, or as tags of a git or OCI repository ([FromGitTags],
// [FromOCITags]). It selects the same version as a stock "tofu init".
//
// A version is an optional lower-case "v", numbers separated by dots, an optional pre-release, and optional
// build metadata after "+". Its canonical form has no "v", at least three numbers and no leading zeros:
// "v1.02" is "1.2.0". Versions are the same if their canonical forms are equal.
//
// [Constraints] of modules are parts separated by commas, all of which a version must meet. A part is a version
// after an optional operator (=, !=, >, >=, <, <= or ~>) and matches as in hashicorp/go-version 1.9: "~> 1.2.3"
// allows only the last written number to change, so "~> 1" has no upper bound, and "1.0.0" is met by
// 1.0.0+build. A pre-release is allowed only by a single part that names it exactly, with the same metadata.
// Stock OpenTofu selects the same version, or none if its second parser does not support the spelling: the space
// in "= 1.2.0-beta1", "1.2.0beta1", and pre-releases of four numbers. We accept these, because the author has
// named the version exactly, and stock tools accept it once it is installed.
//
// [ProviderConstraints] have the meaning of apparentlymart/go-versions. Stock tools parse them with both
// grammars, so both must accept them: no leading "v", at most three numbers, a dash before a pre-release, and
// at most one space after an operator. "~> 1" is "~> 1.0"; "1.0.0" is not met by 1.0.0+build; a pre-release
// is allowed if a part names it exactly and all others allow it; 0.0.0 is never allowed.
//
// A version has at most 128 bytes, and a constraint string 4,096.
package versions
