// Package gogetter connects package getmodules with github.com/hashicorp/go-getter, in both
// directions.
//
// # A go-getter getter in a Fetcher
//
// [V2] and [V1] adapt a go-getter getter that a program already has to a [getmodules.Getter],
// for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{
//		"acme": gogetter.V2{Name: "acme", New: func() getter.Getter { return &acme.Getter{} }},
//	}}
//
// V2 is for getters of go-getter/v2; this package is tested with v2.2.5. V1 is for getters of
// go-getter v1. This package does not import go-getter v1, because it links the SDKs of two
// clouds. V1 accepts any type with v1's methods Get and GetFile.
//
// The getter downloads one file or one directory to the given path. Package getmodules does
// everything else:
//
//   - New is called for each download. go-getter's getters change their own fields while they
//     work, so sharing one between downloads would be a data race.
//   - The client of the getter has an empty map of decompressors, and knows no other getter.
//     go-getter's tar and zip decompressors are never used: they turn symbolic and hard links
//     into files, and their results differ from those of other tools. Package getmodules reads
//     the archive itself.
//   - Copy and DisableSymlinks are set, and the umask is 077.
//   - The result of the getter is checked by lstat. A result that is a symbolic link is
//     refused; for example, go-getter's FileGetter links directories. Inside a directory, the
//     same rules for links apply as in every package.
//   - [getmodules.Limits] apply: the size of the written files is checked while the getter
//     works and at the end, and one byte over a limit is an error. Do not set limits of
//     go-getter, such as HttpGetter.MaxBytes, because they truncate silently.
//   - A server's answer must not point to such a getter, whatever its name. Only addresses that
//     are written in a configuration may do so.
//
// These rules do not cover redirects and other servers that the getter itself contacts, nor
// files that it writes elsewhere, such as go-getter's own temporary files. go-getter re-encodes
// the query of the address. It uses the arguments archive, checksum and filename itself;
// package getmodules removes the first two.
//
// # A Fetcher in a go-getter client
//
// [Getter] is a getter of go-getter/v2 that fetches packages with a [getmodules.Fetcher]. A
// program that uses go-getter thus gets the limits and the safe extraction of the Fetcher:
//
//	client := getter.Client{Getters: []getter.Getter{&gogetter.Getter{Fetcher: fetcher}}}
//	_, err := client.Get(ctx, &getter.Request{Src: source, Dst: dir, GetMode: getter.ModeDir})
//
// It accepts all remote addresses of modules, in all spellings of [addrs.ParseModuleSource]. It
// hides them from the client, which would otherwise extract archives itself. A subdirectory in
// the address works as usual. Local paths, addresses of module registries and single files
// (ModeFile) are left to the client's other getters.
//
// The destination must not exist, or must be an empty directory, because packages are not
// updated in place.
//
// # xz
//
// Package getmodules/xz decompresses .tar.xz archives without go-getter; its documentation
// explains why.
package gogetter
