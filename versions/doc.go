// Package versions parses module versions and version constraints, and selects
// one version out of what an origin offers: a registry's list, a repository's
// tags or the tags of an OCI repository. It selects what a stock "tofu init"
// selects.
//
// # Versions
//
// A version is an optional lower-case "v", one or more numbers separated by
// dots, an optional pre-release and optional build metadata behind "+". Its
// canonical form has no "v", at least three numbers and no leading zeros:
// "v1.02" is "1.2.0". Two versions are the same when their canonical forms are
// equal, metadata included; [Version.Compare] orders them by precedence, which
// ignores metadata.
//
// # Constraints
//
// A constraint string is a list of parts separated by commas, all of which a
// version has to meet. A part is an operator out of =, !=, >, >=, <, <= and ~>,
// or none, which means =, and a version. Parts match as in
// hashicorp/go-version 1.9, which stock tools use for modules. That is not the
// syntax or the meaning of provider constraints; in particular:
//
//   - "~> 1.2.3" leaves only the last written number free: >= 1.2.3, < 1.3.0.
//     "~> 1" therefore has no upper bound and allows 2.0.0.
//   - A trailing comma and an empty string are errors.
//   - "1.0.0" is met by 1.0.0+build.
//
// # Pre-releases
//
// A pre-release is allowed only by a single part that names it exactly, with
// the same metadata: "1.2.0-beta1" or "= 1.2.0-beta1". No range allows one, and
// no list of parts does. Stock OpenTofu selects the same, or nothing where the
// spelling is beyond its second parser: with the space in "= 1.2.0-beta1", in
// "1.2.0beta1" and in pre-releases of four numbers.
//
// # Selection
//
// [Select] takes the allowed version of the highest precedence. Where several
// have it, the order of the list never matters (stock tools take the first one
// listed). In turn:
//
//   - a version that a part names exactly, metadata or its absence included;
//   - the greatest metadata, compared identifier by identifier between the
//     dots: numbers by value and before words, words by their bytes, none
//     before any;
//   - the canonical form that sorts last by its bytes ("1.0.0.0" after "1.0.0").
//
// The version that won may be offered several times, as tags "v1.2.0" and
// "1.2.0" are. Different revisions behind it are an [AmbiguousVersionError];
// otherwise the candidate with a revision wins, then the one whose Ref
// sorts first.
//
// # Limits
//
//   - A version has at most 128 bytes, in either form.
//   - A constraint string has at most 4,096 bytes.
//   - Precedence among pre-releases is that of go-version, which differs from
//     semantic versioning where one extends the other (1.0.0-a.b comes before
//     1.0.0-a). It never decides a selection.
package versions
