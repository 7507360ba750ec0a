package getmodules

import (
	"errors"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// archiveAddress is a parsed address that can be that of an archive.
type archiveAddress struct {
	// url is the URL to request: without userinfo, fragment, and the arguments
	// archive and checksum. All other arguments are kept byte for byte, because
	// they may be signed.
	url *url.URL
	// user is the URL's userinfo; nil if it has none.
	user *url.Userinfo
	// kind is "" if the address is not that of an archive.
	kind archiveKind
	// checksum is the value of the argument; "" if there is none.
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
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	a := &archiveAddress{url: &plain, user: u.User}
	archive, rest := cutArgument(u.RawQuery, "archive")
	a.checksum, plain.RawQuery = cutArgument(rest, "checksum")
	a.kind, err = f.kindFor(archive, u.Path)
	return a, err
}

// cutArgument removes all arguments of a name from a query, and returns the value
// of the first one, as stock tools do.
func cutArgument(query, name string) (value, rest string) {
	var others []string
	found := false
	for arg := range strings.SplitSeq(query, "&") {
		key, escaped, _ := strings.Cut(arg, "=")
		if key, err := url.QueryUnescape(key); err != nil || key != name {
			others = append(others, arg)
			continue
		}
		if text, err := url.QueryUnescape(escaped); err == nil && !found {
			value, found = text, true
		}
	}
	return value, strings.Join(others, "&")
}

// resolved returns the address to record. It has no query, which may be secret or
// valid only once, except for the archive argument if the path needs it.
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
