// Package cache inspects and cleans the user's cache of module and provider packages, which
// [installer.Installer].CacheDir names, and names the content that a CI system should keep between
// runs:
//
//	usage, err := cache.Cache{Dir: dir}.Size(ctx)
//	key, err := cache.KeyOf(ctx, []installer.Project{{Dir: "infra"}})
//
// Installations need nothing of this package: they create the cache, and check each package that
// they take from it. Everything in a cache can be fetched again.
package cache
