// Package gogetter connects package getmodules with github.com/hashicorp/go-getter, in both directions.
//
// [V2] adapts a getter of go-getter/v2 (tested with v2.2.5) for [getmodules.Fetcher].Getters. [V1] is for
// go-getter v1, which this package does not import because it links the SDKs of two clouds: any type with its
// methods will do.
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{
//		"acme": gogetter.V2{Name: "acme", New: func() getter.Getter { return &acme.Getter{} }},
//	}}
//
// The getter downloads one file or directory, and package getmodules does everything else, with its own
// limits: do not set those of go-getter, which truncate silently. New is called for each download, because
// getters change their own fields. The getter's client has no decompressors, which would turn links into
// files, and no other getters; Copy and DisableSymlinks are set, and the umask is 077. A result that is a
// symbolic link is refused. Only addresses in a configuration may use such a getter, not those of servers.
// Redirects, other servers that the getter contacts, and files that it writes elsewhere, such as go-getter's
// temporary ones, are not covered. go-getter re-encodes the query and uses its argument filename.
//
// [Getter] is a getter of go-getter/v2 that fetches packages with a [getmodules.Fetcher], and thus with its
// limits and safe extraction:
//
//	client := getter.Client{Getters: []getter.Getter{&gogetter.Getter{Fetcher: fetcher}}}
//	_, err := client.Get(ctx, &getter.Request{Src: source, Dst: dir, GetMode: getter.ModeDir})
//
// It accepts all remote addresses of modules, in all spellings of [addrs.ParseModuleSource], and hides them
// from the client, which would otherwise extract archives itself. A subdirectory works as usual. Local paths,
// addresses of registries and single files (ModeFile) are left to the client's other getters. The destination
// must be missing or empty, because packages are not updated in place.
package gogetter
