package addrs

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// An address is what is requested, so another address can be another package, whichever of its parts differ.
// Only the arguments of a signature change without changing what they sign. This is the one comparison:
//
//	                     | kept in a lock of a literal | kept in every lock | part of the identity
//	location, ssh user   | yes                         | yes                | yes
//	ref, tag, version, … | yes                         | yes                | yes
//	other arguments      | yes                         | no                 | yes
//	credentials, users   | no                          | no                 | yes
//	fragment             | no, except a gcs generation | the same           | yes
//	a whole signature    | no                          | no                 | no
//
// A literal is the source of a call in the project's own modules if it is no expression: anyone who reads the lock
// reads it there too. Addresses that packages and servers name, or that variables are part of, can contain secrets
// under any name. A lock does not even have a digest of what it does not show, because it could be guessed. So
// one text in a lock can belong to several addresses, see [IsRecord]; only a keyed hash of [Identity] tells them apart.

// ForLock returns the address as a lock has it: without user names, passwords, credentials, signatures and
// fragments. It keeps the user of an ssh address, and a fragment of gcs that is a number, the generation of an
// object. If the address is not literal in the project's own configuration, arguments stay only if they can only
// select content, see [ModulePackage.WithoutCredentials].
func (p ModulePackage) ForLock(literal bool) ModulePackage {
	if !literal {
		return p.WithoutCredentials()
	}
	return p.Unsigned().keep(func(argument string) bool { return isContent(argument) || isHarmless(argument) })
}

// Unsigned returns the address without the arguments of a signature by Amazon (X-Amz-...), Google (X-Goog-...),
// Azure (a shared access signature) or CloudFront. They are left out only if all that such a signature needs are
// there, each once. Two addresses name one package if their Unsigned is equal.
func (p ModulePackage) Unsigned() ModulePackage {
	arguments := p.arguments()
	if len(arguments) < 3 {
		return p // no signature has fewer
	}
	count := make(map[string]int, len(arguments))
	for _, argument := range arguments {
		count[signingName(argument)]++
	}
	signs := make(map[string]bool)
	for _, signature := range signatures {
		if all(signature.needs, func(name string) bool { return count[name] == 1 }) &&
			all(signature.takes, func(name string) bool { return count[name] <= 1 }) {
			for _, name := range slices.Concat(signature.needs, signature.takes) {
				signs[name] = true
			}
		}
	}
	if len(signs) == 0 {
		return p
	}
	return p.withQuery(slices.DeleteFunc(arguments, func(argument string) bool { return signs[signingName(argument)] }))
}

// signingName returns "" for an argument that parsers could split in different ways.
func signingName(argument string) string {
	name, value := splitArgument(argument)
	if value == "" || strings.ContainsAny(argument, ";?") {
		return ""
	}
	return name
}

func all(names []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !ok(name) })
}

// signatures are the documented sets of arguments that sign a URL: those that each signature needs, and others that
// it can take. Arguments that select or change what is delivered, such as versionId, snapshot, generation or
// response-content-encoding, belong to no set, although they can be signed.
var signatures = []struct{ needs, takes []string }{
	{
		[]string{"X-Amz-Algorithm", "X-Amz-Credential", "X-Amz-Date", "X-Amz-Expires", "X-Amz-SignedHeaders", "X-Amz-Signature"},
		[]string{"X-Amz-Security-Token"},
	},
	{[]string{"X-Goog-Algorithm", "X-Goog-Credential", "X-Goog-Date", "X-Goog-Expires", "X-Goog-SignedHeaders", "X-Goog-Signature"}, nil},
	{[]string{"sv", "sr", "sp", "se", "sig"}, azureOptions},        // of a service, or of a user's delegation
	{[]string{"sv", "sr", "si", "sig"}, azureOptions},              // with a stored access policy
	{[]string{"sv", "ss", "srt", "sp", "se", "sig"}, azureOptions}, // of an account
	{[]string{"Expires", "Signature", "Key-Pair-Id"}, nil},         // CloudFront, with a canned policy
	{[]string{"Policy", "Signature", "Key-Pair-Id"}, nil},          // CloudFront, with a custom policy
}

var azureOptions = []string{"st", "sp", "se", "sip", "spr", "ses", "sdd", "skoid", "sktid", "skt", "ske", "sks", "skv", "saoid", "suoid", "scid", "si"}

// isHarmless reports whether an argument holds no credentials: it has a name, which is not that of a
// credential, and no URL with a user or arguments of its own.
func isHarmless(argument string) bool {
	name, _ := splitArgument(argument)
	_, value, hasValue := strings.Cut(argument, "=")
	if !hasValue || name == "" || isCredential(name) || strings.ContainsAny(argument, ";?") {
		return false
	}
	const layers = 4 // of escaping
	for range layers {
		if _, nested, isURL := strings.Cut(value, "//"); isURL && strings.ContainsAny(nested, "@?#") {
			return false
		}
		plain, err := url.QueryUnescape(value)
		if err != nil {
			return false
		}
		if plain == value {
			return true
		}
		value = plain
	}
	return false
}

// isCredential reports whether an argument of this name holds a credential or a signature. It compares words, because
// each server has names of its own: "token", "private_token", "X-Amz-Security-Token".
func isCredential(name string) bool {
	plain := strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
	switch plain {
	case "sig", "auth", "authorization", "pass", "pwd", "jwt", "session", "sessionid", "code", "awsaccesskeyid", "googleaccessid":
		return true
	}
	return strings.HasSuffix(plain, "key") || slices.ContainsFunc(
		[]string{"token", "secret", "password", "passwd", "passphrase", "credential", "signature", "apikey", "accesskey", "privatekey", "bearer"},
		func(word string) bool { return strings.Contains(plain, word) })
}

// LockForm returns a source address in full, such as one from [ParseModuleSource], as a lock has it; see
// [ModulePackage.ForLock].
func LockForm(source ModuleSource, literal bool) ModuleSource {
	if remote, ok := source.(ModuleSourceRemote); ok {
		remote.Package = remote.Package.ForLock(literal)
		return remote
	}
	return source
}

// IsRecord reports whether an address from a lock is one of the two forms in which locks have a source address in
// full. Then it can be that of the address, or of one with other values of what [Hidden] names. It is false for nil.
func IsRecord(recorded, source ModuleSource) bool {
	a, isRemote := recorded.(ModuleSourceRemote)
	b, both := source.(ModuleSourceRemote)
	if !isRemote || !both {
		return recorded != nil && recorded == source
	}
	location := b.Package.parts().location
	if a.Subdir != b.Subdir || location != a.Package.parts().location && !strings.Contains(location, "@") {
		return false // as in nearly all comparisons of a call with the entries of a lock
	}
	return a.Package == b.Package.ForLock(true) || a.Package == b.Package.ForLock(false)
}

// SameRecord reports whether two addresses from locks can belong to one address: they are equal, or only one of
// them has the arguments of a literal.
func SameRecord(a, b ModuleSource) bool { return a == b || IsRecord(a, b) || IsRecord(b, a) }

// SameSource reports whether two addresses name one directory of one package.
func SameSource(a, b ModuleSource) bool { return Identity(a) == Identity(b) }

// Identity returns a text that is equal for equal packages and directories, and for no others. It can contain
// credentials.
func Identity(source ModuleSource) string {
	switch source := source.(type) {
	case nil:
		return ""
	case ModuleSourceRemote:
		source.Package = source.Package.Unsigned()
		return source.String()
	}
	return source.String()
}

// Hidden returns what belongs to the identity of a source address and is not in its form in a lock, for messages:
// "the argument "a"", without the value, "the user", "the fragment". It returns nil if the form has all.
func Hidden(source ModuleSource, literal bool) []string {
	remote, ok := source.(ModuleSourceRemote)
	if !ok || remote.Package.Unsigned() == remote.Package.ForLock(literal) {
		return nil
	}
	return differing(remote.Package.Unsigned(), remote.Package.ForLock(literal))
}

// Differing returns which parts of two source addresses differ, as [Hidden] names them; nil if they are the same.
func Differing(a, b ModuleSource) []string {
	first, isRemote := a.(ModuleSourceRemote)
	second, both := b.(ModuleSourceRemote)
	switch {
	case a == b:
		return nil
	case !isRemote || !both:
		return []string{"the address"}
	case first.Package == second.Package:
		return []string{"the directory"}
	}
	return differing(first.Package, second.Package)
}

func differing(a, b ModulePackage) []string {
	var parts []string
	one, other := a.parts(), b.parts()
	switch {
	case one.forced == other.forced && one.location == other.location:
	case one.forced == other.forced && withoutUserinfo(one.location) == withoutUserinfo(other.location):
		parts = append(parts, "the user")
	default:
		parts = append(parts, "the location")
	}
	values := func(p ModulePackage) map[string][]string {
		byName := make(map[string][]string)
		for _, argument := range p.arguments() {
			name, _, hasValue := strings.Cut(argument, "=")
			if name = "the argument " + strconv.Quote(name); !hasValue {
				name = "an argument without a value"
			}
			byName[name] = append(byName[name], argument)
		}
		return byName
	}
	before, after := values(a), values(b)
	names := slices.Sorted(maps.Keys(before))
	names = append(names, slices.Sorted(maps.Keys(after))...)
	for _, name := range names {
		if !slices.Equal(before[name], after[name]) && !slices.Contains(parts, name) {
			parts = append(parts, name)
		}
	}
	if one.fragment != other.fragment {
		parts = append(parts, "the fragment")
	}
	if parts == nil {
		parts = []string{"the order of the arguments"}
	}
	return parts
}
