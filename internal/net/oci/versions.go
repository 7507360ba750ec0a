package oci

import (
	"context"

	"github.com/cotterpin/cotter/internal/disk/packagelimits"
	"github.com/cotterpin/cotter/versions"
)

// Versions is [versions.FromOCITags], and counts the versions for the run of ctx, which keeps them in memory; see
// [packagelimits.Disk.List].
func Versions(ctx context.Context, repository versions.OCITagLister) ([]versions.Candidate, error) {
	found, err := versions.FromOCITags(ctx, repository)
	if err == nil {
		err = packagelimits.DiskOf(ctx).List(len(found))
	}
	if err != nil {
		return nil, err
	}
	return found, nil
}
