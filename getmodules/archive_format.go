package getmodules

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/addrs"
)

type archiveFormat struct {
	// names are those of the stock tools, as in [addrs.ArchiveName], the usual one first.
	names []string
	marks [][]byte
	// unpack is nil if the format is not supported.
	unpack  func(*unpacking) error
	needsXZ bool
}

var archiveFormats = []*archiveFormat{
	// The second mark is that of a zip archive without entries.
	{names: []string{"zip"}, marks: [][]byte{[]byte("PK\x03\x04"), []byte("PK\x05\x06")}, unpack: (*unpacking).unzip},
	{names: []string{"tar.gz", "tgz"}, marks: [][]byte{[]byte("\x1f\x8b")}, unpack: tarIn(gunzip)},
	{names: []string{"tar.bz2", "tar.tbz2"}, marks: [][]byte{[]byte("BZh")}, unpack: tarIn(bunzip2)},
	{names: []string{"tar.xz", "txz"}, marks: [][]byte{[]byte("\xfd7zXZ\x00")}, unpack: tarIn(unxz), needsXZ: true},
	{names: []string{"bz2"}},
	{names: []string{"gz"}},
	{names: []string{"xz"}},
	{names: []string{"tar"}}, // stock tools refuse it only after the download
}

func (f *archiveFormat) begins(head []byte) bool {
	return slices.ContainsFunc(f.marks, func(mark []byte) bool { return bytes.HasPrefix(head, mark) })
}

func formatNamed(name string) *archiveFormat {
	for _, format := range archiveFormats {
		if slices.Contains(format.names, name) {
			return format
		}
	}
	return nil
}

func (f *Fetcher) supports(format *archiveFormat) bool {
	return format.unpack != nil && (f.XZ != nil || !format.needsXZ)
}

// formatFor returns the format of the archive at an address, by the archive argument or else the suffix of
// the path; nil if it is no archive, also for unknown names, as in stock tools.
func (f *Fetcher) formatFor(archive, path string) (*archiveFormat, error) {
	name := archive
	if archive == "" {
		name = addrs.ArchiveName(path)
	}
	if wanted, err := strconv.ParseBool(name); err == nil && !wanted {
		return nil, nil
	}
	format := formatNamed(name)
	if format != nil && !f.supports(format) {
		return nil, fmt.Errorf("%w %q: supported are %s", ErrUnsupportedArchive, name, f.supportedArchives())
	}
	return format, nil
}

func (f *Fetcher) supportedArchives() string {
	var names []string
	for _, format := range archiveFormats {
		if f.supports(format) {
			names = append(names, format.names[0])
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// sniff returns the format by the first bytes, which must be that of kind unless it is "".
func (f *Fetcher) sniff(file io.ReaderAt, kind string) (*archiveFormat, error) {
	head := make([]byte, 512)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	head = head[:n]
	if n == 0 {
		return nil, fmt.Errorf("%w: the file is empty", ErrNotArchive)
	}
	for _, format := range archiveFormats {
		switch {
		case !format.begins(head):
			continue
		case !f.supports(format): // the marks of tar.xz are those of xz
			return nil, fmt.Errorf("%w: it is %s, which is not supported", ErrNotArchive, strings.TrimPrefix(format.names[0], "tar."))
		case kind != "" && format.names[0] != kind:
			return nil, fmt.Errorf("%w: it is a %s archive, not %s", ErrNotArchive, format.names[0], kind)
		}
		return format, nil
	}
	return nil, fmt.Errorf("%w: it is %s", ErrNotArchive, describe(head))
}

// describe returns the apparent format of an unknown file.
func describe(head []byte) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("<")):
		return "HTML or XML, perhaps a login or error page"
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		return "JSON, perhaps an error message"
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return "zstd, which is not supported"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return "a tar file without compression, which is not supported"
	}
	return "of an unknown format"
}

// archiveAddress is a parsed address, possibly of an archive.
type archiveAddress struct {
	// location is without the arguments archive and checksum. All others stay byte for byte, because they
	// may be signed.
	location addrs.Location
	// url is the URL to request: without userinfo and fragment.
	url  *url.URL
	user *url.Userinfo
	// format is nil if it is not the address of an archive.
	format   *archiveFormat
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
	a.format, err = f.formatFor(args.Get("archive"), u.Path)
	if err == nil && a.format == nil && a.checksum != "" {
		err = errChecksumOfDirectory
	}
	return a, err
}

// resolved returns the address to record, without the query, which may be secret or valid only once. The
// archive argument stays if the path does not imply the format.
func (a *archiveAddress) resolved() addrs.ModulePackage {
	u := *a.url
	u.RawQuery, u.ForceQuery, u.OmitHost = "", false, false // file:/path is file:///path
	if u.Scheme == "" {
		u.Scheme = "file" // file::/path
	}
	switch implied := formatNamed(addrs.ArchiveName(u.Path)); {
	case implied == a.format:
	case a.format == nil:
		u.RawQuery = "archive=false"
	default:
		u.RawQuery = "archive=" + a.format.names[0]
	}
	return addrs.ParseModulePackage(u.String())
}
