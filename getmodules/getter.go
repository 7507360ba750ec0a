package getmodules

import (
	"context"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
)

// Getter downloads from one kind of source that this package does not know
// itself; see [Fetcher].Getters. It must be safe for concurrent use.
//
// It is to download and no more. Fetch has checked who may point to the address
// before. It bounds what comes while it comes, ends ctx when that is too much
// or when nothing comes any more, takes the address's secrets and control
// characters out of the text of errors, and makes the package of what came, by
// the rules for all packages.
type Getter interface {
	// Get writes what is at from.URL to from.Path. It must end when ctx does.
	// Repeating what failed is its own business.
	Get(ctx context.Context, from Download) (Downloaded, error)
}

// Download is what a [Getter] is asked for.
type Download struct {
	// URL is the address behind the "::", without the arguments archive and
	// checksum. It may hold credentials.
	URL *url.URL
	// Archive says that there is one file at the URL, a zip, tar.gz or tar.bz2
	// archive, which is to become a file. Otherwise there is a directory, or
	// what takes the place of one, which is to become a directory.
	Archive bool
	// Revision pins what must come, as Request's does; "" lets URL decide. A
	// getter that has no revisions never sees one.
	Revision string
	// Path is where it goes, an absolute path. Nothing is there. Its parent is
	// private to this download, and takes temporary files too.
	Path string
}

// Downloaded is what a [Getter] says of what it downloaded. The zero value will
// do where there are no revisions.
type Downloaded struct {
	// Revision names what came, for good: Package's Revision.
	Revision string
	// Resolved is the immutable address of what came. "" means the address that
	// was asked for. What could be a credential is taken out of either.
	Resolved addrs.ModulePackage
}
