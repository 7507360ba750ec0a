package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

// archiveKind is an archive format; "" means that an address is not the address of an archive.
type archiveKind string

const (
	kindZip      archiveKind = "zip"
	kindTarGzip  archiveKind = "tar.gz"
	kindTarBzip2 archiveKind = "tar.bz2"
	kindTarXZ    archiveKind = "tar.xz" // only with Fetcher.XZ
)

// archiveNames returns the kinds of archives by name, as names appear in the archive argument
// and as file name suffixes. Names without a kind are known, but not supported. The names are
// those of the stock tools, including "tar.tbz2". "tar" is added, which stock tools refuse only
// after the download.
func archiveNames() map[string]archiveKind {
	return map[string]archiveKind{
		"zip":      kindZip,
		"tar.gz":   kindTarGzip,
		"tgz":      kindTarGzip,
		"tar.bz2":  kindTarBzip2,
		"tar.tbz2": kindTarBzip2,
		"tar.xz":   kindTarXZ,
		"txz":      kindTarXZ,
		"bz2":      "",
		"gz":       "",
		"xz":       "",
		"tar":      "",
	}
}

// kindFor returns the kind of archive at an address. The archive argument decides or, if that
// is empty, the suffix of the path. "" means that the address is not the address of an archive.
func (f *Fetcher) kindFor(archive, path string) (archiveKind, error) {
	name := archive
	if archive == "" {
		name = suffixName(path)
	}
	if wanted, err := strconv.ParseBool(name); err == nil && !wanted {
		return "", nil
	}
	kind, known := archiveNames()[name]
	if known && (kind == "" || kind == kindTarXZ && f.XZ == nil) {
		return "", fmt.Errorf("%w %q: supported are %s", ErrUnsupportedArchive, name, f.supportedArchives())
	}
	return kind, nil // an unknown name also gives "", as in stock tools
}

func (f *Fetcher) supportedArchives() string {
	if f.XZ != nil {
		return "zip, tar.gz, tar.bz2 and tar.xz"
	}
	return "zip, tar.gz and tar.bz2"
}

// suffixName returns the longest archive name that is a suffix of a path, or "". ".tar" does
// not count, because stock tools treat such an address as the address of a page.
func suffixName(path string) string {
	longest := ""
	for name := range archiveNames() {
		if name != "tar" && strings.HasSuffix(path, "."+name) && len(name) > len(longest) {
			longest = name
		}
	}
	return longest
}

// kindOf returns the kind of archive whose signature is at the start of head, or "".
func kindOf(head []byte) archiveKind {
	switch {
	// The second signature is the start of a zip archive without entries.
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return kindZip
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return kindTarGzip
	case bytes.HasPrefix(head, []byte("BZh")):
		return kindTarBzip2
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return kindTarXZ
	}
	return ""
}

// sniff returns the kind of an archive, as detected from its first bytes. It returns an error
// if kind is not "" and differs.
func (f *Fetcher) sniff(file io.ReaderAt, kind archiveKind) (archiveKind, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	head = head[:n]
	found := kindOf(head)
	switch {
	case n == 0:
		return "", fmt.Errorf("%w: the file is empty", ErrNotArchive)
	case found == "", found == kindTarXZ && f.XZ == nil:
		return "", fmt.Errorf("%w: it is %s", ErrNotArchive, describe(head))
	case kind != "" && found != kind:
		return "", fmt.Errorf("%w: it is a %s archive, not %s", ErrNotArchive, found, kind)
	}
	return found, nil
}

// describe returns the apparent format of a file that is not a supported archive.
func describe(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("<")):
		return "HTML or XML, perhaps a login or error page"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "JSON, perhaps an error message"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz, which is not supported"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd, which is not supported"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return "a tar file without compression, which is not supported"
	}
	return "of an unknown format"
}

// archiveAddress is a parsed address, which may be the address of an archive.
type archiveAddress struct {
	// location is the location without the arguments archive and checksum. All other arguments are
	// kept byte for byte, because they may be signed.
	location addrs.Location
	// url is the URL to request: that of the location, without userinfo and fragment.
	url *url.URL
	// user is the URL's userinfo, or nil if it has none.
	user *url.Userinfo
	// kind is "" if the address is not the address of an archive.
	kind archiveKind
	// checksum is the value of the checksum argument, or "" without that argument.
	checksum string
}

func (f *Fetcher) parseArchiveAddress(pkg addrs.ModulePackage) (*archiveAddress, error) {
	at, err := pkg.Location()
	if err != nil {
		return nil, err
	}
	u := at.URL()
	switch {
	case u.Host == "" && (u.Scheme == "http" || u.Scheme == "https"):
		return nil, errors.New("the address has no host: write two slashes after the scheme")
	case u.Opaque != "": // "file:name" has no path
		return nil, errNotAbsolute
	}
	if at, err = pkg.Without("archive", "checksum").Location(); err != nil {
		return nil, err
	}
	plain := at.URL()
	plain.User, plain.Fragment, plain.RawFragment = nil, "", ""
	args := u.Query()
	a := &archiveAddress{location: at, url: plain, user: u.User, checksum: args.Get("checksum")}
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
