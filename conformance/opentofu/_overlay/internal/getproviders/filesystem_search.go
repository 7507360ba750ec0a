package getproviders

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/opentofu/opentofu/internal/addrs"
	"github.com/opentofu/svchost"

	cotter "github.com/cotterpin/cotter/getproviders"
)

// SearchLocalDirectory returns the packages in a directory with the layout of a mirror.
func SearchLocalDirectory(baseDir string) (map[addrs.Provider]PackageMetaList, error) {
	if real, err := filepath.EvalSymlinks(baseDir); err == nil {
		baseDir = real
	}
	ctx, mirror := context.Background(), cotter.FilesystemMirror{Dir: baseDir}
	providers, err := mirror.Providers(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[addrs.Provider]PackageMetaList)
	for _, provider := range providers {
		listing, err := mirror.Versions(ctx, provider)
		if err != nil {
			return nil, err
		}
		addr := addrs.Provider{Hostname: svchost.Hostname(provider.Hostname), Namespace: provider.Namespace, Type: provider.Type}
		for _, offered := range listing.Versions {
			version, err := ParseVersion(offered.Version.String())
			if err != nil {
				return nil, err
			}
			for _, platform := range offered.Platforms {
				pkg, err := mirror.Package(ctx, provider, offered.Version, platform)
				if err != nil {
					return nil, err
				}
				found[addr] = append(found[addr], localMeta(addr, version, Platform(platform), pkg))
			}
		}
		found[addr].Sort()
	}
	return found, nil
}

func localMeta(provider addrs.Provider, version Version, platform Platform, pkg cotter.Package) PackageMeta {
	meta := PackageMeta{Provider: provider, Version: version, TargetPlatform: platform}
	if dir := pkg.Dir(); dir != "" {
		meta.Location, meta.Filename = PackageLocalDir(dir), packedName(provider, version, platform)
		return meta
	}
	meta.Location, meta.Filename = PackageLocalArchive(pkg.Location()), strings.ToLower(filepath.Base(pkg.Location()))
	return meta
}

func packedName(provider addrs.Provider, version Version, platform Platform) string {
	return fmt.Sprintf("terraform-provider-%s_%s_%s.zip", provider.Type, version, platform)
}

func providerDir(baseDir string, provider addrs.Provider) string {
	return filepath.Join(baseDir, provider.Hostname.ForDisplay(), provider.Namespace, provider.Type)
}

// UnpackedDirectoryPathForPackage returns where a mirror has an unpacked package.
func UnpackedDirectoryPathForPackage(baseDir string, provider addrs.Provider, version Version, platform Platform) string {
	return filepath.ToSlash(filepath.Join(providerDir(baseDir, provider), version.String(), platform.String()))
}

// PackedFilePathForPackage returns where a mirror has an archive.
func PackedFilePathForPackage(baseDir string, provider addrs.Provider, version Version, platform Platform) string {
	return filepath.ToSlash(filepath.Join(providerDir(baseDir, provider), packedName(provider, version, platform)))
}
