package getmodules

import (
	"errors"
	"net/url"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// archiveAddress is the address of what may be an archive, taken apart.
type archiveAddress struct {
	// url is what to ask for: without userinfo, fragment and the arguments
	// that are ours. All other arguments stay byte for byte, as they may be
	// signed.
	url *url.URL
	// user is the URL's userinfo; nil if it has none.
	user *url.Userinfo
	// kind is "" if the address is not that of an archive.
	kind archiveKind
	// checksum is the argument; "" if there is none.
	checksum string
}

func (f *Fetcher) parseArchiveAddress(pkg addrs.ModulePackage) (*archiveAddress, error) {
	u, err := pkg.URL()
	if err != nil {
		return nil, err
	}
	if u.Host == "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil, errors.New("the address has no host: behind the scheme there are two slashes")
	}
	plain := *u
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	a := &archiveAddress{url: &plain, user: u.User}
	archive, rest := cutArgument(u.RawQuery, "archive")
	a.checksum, plain.RawQuery = cutArgument(rest, "checksum")
	a.kind, err = f.kindFor(archive, u.Path)
	return a, err
}

// cutArgument takes all arguments of a name out of a query. Of several the
// first one counts, as for the stock tools.
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

// resolved is the address to keep: without a query, which may be secret or for
// one request only, except for what says that it is an archive.
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
