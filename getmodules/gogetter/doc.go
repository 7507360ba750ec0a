// Package gogetter connects package getmodules with
// github.com/hashicorp/go-getter in both directions.
//
// # A go-getter getter in a Fetcher
//
// [V2] and [V1] make a [getmodules.Getter] of a getter that a program already
// has, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{
//		"acme": gogetter.V2{Name: "acme", New: func() getter.Getter { return &acme.Getter{} }},
//	}}
//
// V2 is for getters of go-getter/v2 (v2.2.5 is what this package is tested
// with). V1 is for those of go-getter v1, which this package does not import,
// because it links the SDKs of two clouds: any type with v1's methods Get and
// GetFile will do.
//
// The getter downloads one file or one directory to the place that it is given.
// Everything else is done by package getmodules:
//
//   - New is called for each download. go-getter's getters change their own
//     fields while they work, so one that several downloads share is a data race.
//   - The client of the getter has an empty map of decompressors and knows no
//     other getter. go-getter's tar and zip decompressors are never used: they
//     make files of symbolic and hard links, and extract no two archives alike
//     with other tools. Package getmodules reads the archive itself.
//   - Copy and DisableSymlinks are set, and the umask is 077.
//   - What the getter leaves is looked at by lstat. A result that is a symbolic
//     link is refused; for example, go-getter's FileGetter links directories.
//     Inside a directory, links are judged as in every package.
//   - [getmodules.Limits] hold: the size of what is written is looked at while the
//     getter works and at the end, and one byte over a limit is an error. Do not
//     set limits of go-getter, such as HttpGetter.MaxBytes: they cut off in
//     silence.
//   - No server's answer points to such a getter, whatever its name. Only addresses
//     that are written in a configuration do.
//
// Not covered are redirects and other servers that the getter itself contacts,
// and what it writes elsewhere, such as go-getter's own temporary files.
// go-getter re-encodes the query of the address. It uses the arguments archive,
// checksum and filename itself; package getmodules takes the first two out.
//
// # A Fetcher in a go-getter client
//
// [Getter] is a getter of go-getter/v2 that fetches packages by a
// [getmodules.Fetcher], so that a program that uses go-getter gets its limits and
// its safe extraction:
//
//	client := getter.Client{Getters: []getter.Getter{&gogetter.Getter{Fetcher: fetcher}}}
//	_, err := client.Get(ctx, &getter.Request{Src: source, Dst: dir, GetMode: getter.ModeDir})
//
// It takes all remote addresses of modules, in all spellings of
// [addrs.ParseModuleSource], and hides them from the client, which would otherwise
// extract archives itself. A subdirectory in the address works as usual. Local
// paths, addresses of module registries and single files (ModeFile) are left to
// the client's other getters.
//
// The destination must not exist, or must be an empty directory: packages are not
// updated in place.
//
// # xz
//
// Package xz, beside this one, decompresses .tar.xz archives without go-getter;
// its documentation says why.
package gogetter
