package getmodules

import (
	"errors"
	"net/url"

	"github.com/cotterpin/cotter/addrs"
)

// archiveAddress is a parsed address, which may be the address of an archive.
type archiveAddress struct {
	// url is the URL to request. It has no userinfo, no fragment, and none of the arguments
	// archive and checksum. All other arguments are kept byte for byte, because they may be
	// signed.
	url *url.URL
	// user is the URL's userinfo, or nil if it has none.
	user *url.Userinfo
	// kind is "" if the address is not the address of an archive.
	kind archiveKind
	// checksum is the value of the checksum argument, or "" if there is none.
	checksum string
}

func (f *Fetcher) parseArchiveAddress(pkg addrs.ModulePackage) (*archiveAddress, error) {
	u, err := pkg.URL()
	if err != nil {
		return nil, err
	}
	if u.Host == "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil, errors.New("the address has no host: write two slashes after the scheme")
	}
	plain, err := pkg.Without("archive", "checksum").URL()
	if err != nil {
		return nil, err
	}
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	args := u.Query()
	a := &archiveAddress{url: plain, user: u.User, checksum: args.Get("checksum")}
	a.kind, err = f.kindFor(args.Get("archive"), u.Path)
	return a, err
}

// resolved returns the address to record. It has no query, because a query may be secret or
// valid only once. The archive argument is the exception: it is added if the path does not
// imply the kind.
func (a *archiveAddress) resolved() addrs.ModulePackage {
	u := *a.url
	u.RawQuery, u.ForceQuery = "", false
	if u.Scheme == "" {
		u.Scheme = "file" // file::/path
	}
	if kind, known := archiveNames()[suffixName(u.Path)]; kind != a.kind || known && kind == "" {
		u.RawQuery = "archive=" + string(a.kind)
		if a.kind == "" {
			u.RawQuery = "archive=false"
		}
	}
	return addrs.ParseModulePackage(u.String())
}
