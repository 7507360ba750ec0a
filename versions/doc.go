// Package versions parses versions and version constraints of modules and providers. It
// selects one of the versions that an origin offers in a registry's list, or as tags of a
// git or OCI repository ([FromGitTags], [FromOCITags]). It selects the same version as a stock "tofu init". Everything
// below is about modules unless it mentions providers.
//
// # Versions
//
// A version is an optional lower-case "v", one or more numbers separated by dots, an
// optional pre-release, and optional build metadata after "+". Its canonical form has no
// "v", at least three numbers and no leading zeros: "v1.02" is "1.2.0". Two versions are
// the same if their canonical forms are equal, including metadata. [Version.Compare] orders
// them by precedence, which ignores metadata.
//
// # Constraints
//
// A constraint string is a list of parts separated by commas. A version must meet all of
// them. A part is a version after an optional operator: =, !=, >, >=, <, <= or ~>; the
// default is =. Parts match as in hashicorp/go-version 1.9, which stock tools use for
// modules. Syntax and meaning differ from provider constraints. In particular:
//
//   - "~> 1.2.3" allows only the last written number to change: >= 1.2.3, < 1.3.0.
//     Therefore "~> 1" has no upper bound and allows 2.0.0.
//   - A trailing comma and an empty string are errors.
//   - "1.0.0" is met by 1.0.0+build.
//
// # Pre-releases
//
// A pre-release is allowed only by a single part that names it exactly, with the same
// metadata: "1.2.0-beta1" or "= 1.2.0-beta1". Ranges and lists of parts do not allow
// pre-releases. Stock OpenTofu selects the same version, or none if its second parser does
// not support the spelling: the space in "= 1.2.0-beta1", "1.2.0beta1", and pre-releases of
// four numbers. This is the only rule in which [Constraints.Allows] differs. It stays, because
// the author has named the version exactly, the spelling means the same to the first parser, and
// stock tools accept the version once it is installed.
//
// # Selection
//
// [Select] returns the allowed version of the highest precedence. If several versions have
// it, the order of the list does not matter (stock tools take the first one). Instead,
// these rules decide, in this order:
//
//   - a version that a part names exactly, including metadata or its absence
//   - the greatest metadata, compared by the identifiers between dots: numbers by value
//     and before words, words by their bytes, and a missing identifier before any other
//   - the canonical form that sorts last by its bytes ("1.0.0.0" after "1.0.0")
//
// The selected version can be offered several times, for instance as tags "v1.2.0" and
// "1.2.0". If their revisions differ, the error is an [AmbiguousVersionError]. Otherwise a
// candidate with a revision is preferred, then the one whose Ref sorts first.
//
// # Providers
//
// [ProviderConstraints] have the meaning of apparentlymart/go-versions, which stock tools
// use for providers. Stock tools parse a constraint string with the grammar of modules and
// then with the grammar of providers, so both must accept it: no leading "v", at most three
// numbers, a dash before a pre-release, and at most one space after an operator. A version
// must meet the constraints of all modules; see [ProviderConstraints.And].
//
//   - "~> 1" is "~> 1.0": >= 1.0.0, < 2.0.0.
//   - "1.0.0" is not met by 1.0.0+build; ">= 1.0.0" is.
//   - A pre-release is allowed if a part names it exactly and all others allow it.
//   - 0.0.0 is never allowed.
//
// [SelectProvider] returns the allowed version of the highest precedence. If several
// versions have it, they differ in their metadata, and the greatest metadata is selected by
// the rule above. Stock tools select any of them.
//
// # Limits
//
//   - A version has at most 128 bytes, as written and in canonical form.
//   - A constraint string has at most 4,096 bytes.
//   - Precedence among pre-releases is that of go-version. It differs from semantic
//     versioning if one pre-release extends the other (1.0.0-a.b comes before 1.0.0-a).
//     This does not affect selections.
package versions
