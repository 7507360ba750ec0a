package hostile_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func (r *reader) archive(c Case[Archive], portable bool) (warned bool, err error) {
	file, err := os.CreateTemp(filepath.Join(r.base, "tmp"), "archive-")
	if err != nil {
		return false, err
	}
	defer func() {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}()
	if _, err := file.Write(c.Input.Bytes); err != nil {
		return false, err
	}
	limits := getmodules.Limits{Entries: c.Input.MaxEntries, TreeBytes: c.Input.MaxBytes, FileBytes: c.Input.MaxFile, Portable: portable}
	// For a second extraction of the same input, the first one's tree must be removed.
	if err := os.RemoveAll(r.dir()); err != nil {
		return false, err
	}
	pkg, err := getmodules.ExtractArchive(context.Background(), file, "", r.dir(), limits)
	r.checkTree(err)
	if err != nil {
		r.checkReason(err)
		if c.Class == "bomb" && !errors.Is(err, getmodules.ErrTooLarge) {
			r.found = append(r.found, fmt.Sprintf("the error is %v, want ErrTooLarge", err))
		}
		return false, err
	}
	if left := len(pkg.LeftOut) > 0; left != (r.classes[c.Class].Verdict == LeftOut) {
		r.found = append(r.found, fmt.Sprintf("left out are %v", pkg.LeftOut))
	}
	r.checkWarnings(pkg.Warnings)
	return len(pkg.Warnings) > 0, nil
}

// checkReason checks that a package was refused because of its content, with an error that
// callers can identify.
func (r *reader) checkReason(err error) {
	if _, ok := errors.AsType[*getmodules.FetchError](err); !ok {
		r.found = append(r.found, fmt.Sprintf("the error %v is no *FetchError", err))
	}
	for _, reason := range []error{
		getmodules.ErrNotArchive, getmodules.ErrUnsafeArchive, getmodules.ErrUnsafeEntry,
		getmodules.ErrEmpty, getmodules.ErrTooLarge, getmodules.ErrUnsupportedArchive,
	} {
		if errors.Is(err, reason) {
			return
		}
	}
	r.found = append(r.found, fmt.Sprintf("the error %v is none of the reasons to refuse an archive", err))
}

var errAsked = errors.New("a server was asked")

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func nobody(*http.Request) (*http.Response, error) { return nil, errAsked }

func answer(r *http.Request, status int, header http.Header, body string) *http.Response {
	return &http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: header,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}
}

// fetcher returns a fetcher that sends requests with ask. It has no git: an attempt to find git
// counts as a request too.
func fetcher(ask roundTripper) *getmodules.Fetcher {
	return &getmodules.Fetcher{HTTPClient: &http.Client{Transport: ask}, Attempts: 1, Git: getmodules.Git{Path: "/nonexistent/git"}}
}

func (r *reader) onlyArchive(req *http.Request) (*http.Response, error) {
	if req.URL.Path == "/good.zip" {
		return answer(req, 200, nil, string(r.good)), nil
	}
	return answer(req, 404, nil, ""), nil
}

// unlessAsked returns nil if the error shows that a server or git was queried, because the input
// was then not refused.
func unlessAsked(err error) error {
	if errors.Is(err, errAsked) || errors.Is(err, getmodules.ErrNoGit) {
		return nil
	}
	return err
}

func (r *reader) address(c Case[string], _ bool) (bool, error) {
	source, err := addrs.ParseModuleSource(c.Input)
	if err != nil {
		return false, err
	}
	remote, ok := source.(addrs.ModuleSourceRemote)
	if !ok {
		return false, nil
	}
	ask := nobody
	if c.Class == "address/checksum" {
		ask = r.onlyArchive
	}
	_, err = fetcher(ask).Fetch(context.Background(), getmodules.Request{Package: remote.Package, Dir: r.dir()})
	return false, unlessAsked(err)
}

func (r *reader) ref(c Case[string], portable bool) (bool, error) {
	c.Input = "git::https://h.example/x?ref=" + url.QueryEscape(c.Input)
	return r.address(c, portable)
}

// ways returns the ways in which a server can point to another location.
func (r *reader) ways() []func(Case[string], bool) (bool, error) {
	const page = "https://registry.example.com/page"
	lead := func(address string, to func(location string) *http.Response) func(Case[string], bool) (bool, error) {
		return func(c Case[string], _ bool) (bool, error) {
			ask := func(req *http.Request) (*http.Response, error) {
				if !strings.HasPrefix(req.URL.String(), page) {
					return nil, errAsked
				}
				response := to(c.Input)
				response.Request = req
				return response, nil
			}
			_, err := fetcher(ask).Fetch(context.Background(), getmodules.Request{Package: addrs.ParseModulePackage(address), Dir: r.dir()})
			if c.Class != "location/unfit" && err != nil && !errors.Is(err, getmodules.ErrRefusedLocation) {
				r.found = append(r.found, fmt.Sprintf("the error is %v, want ErrRefusedLocation", err))
			}
			return false, unlessAsked(err)
		}
	}
	return []func(Case[string], bool) (bool, error){
		r.location,
		lead(page, func(location string) *http.Response {
			return answer(nil, 200, http.Header{"X-Terraform-Get": {location}}, "")
		}),
		lead(page, func(location string) *http.Response {
			if strings.Contains(location, "\x00") || strings.TrimSpace(location) != location {
				location = foreign(location) // HTML cannot contain this text
			}
			return answer(nil, 200, nil, `<meta name="terraform-get" content="`+html.EscapeString(location)+`">`)
		}),
		func(c Case[string], portable bool) (bool, error) {
			if c.Class == "location/address" {
				c.Input = foreign(c.Input) // most of these are valid relative URLs
			}
			return lead(page+".zip", func(location string) *http.Response {
				return answer(nil, 302, http.Header{"Location": {location}}, "")
			})(c, portable)
		},
	}
}

func foreign(text string) string { return "ftp://h.example/" + url.PathEscape(text) }

func (r *reader) oci() {
	layer := r.good
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(layer))
	feed(r, OCIManifests(digest, len(layer)), func(c Case[OCIManifest], _ bool) (bool, error) {
		ask := func(req *http.Request) (*http.Response, error) {
			if strings.HasPrefix(req.URL.Path, "/v2/net/blobs/"+digest) {
				return answer(req, 200, http.Header{"Content-Type": {"application/octet-stream"}}, string(layer)), nil
			}
			if req.URL.Path != "/v2/net/manifests/latest" {
				return answer(req, 404, nil, ""), nil
			}
			header := http.Header{"Content-Type": {c.Input.MediaType}, "Docker-Content-Digest": {c.Input.Digest}}
			if c.Input.Digest == "" {
				header.Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(c.Input.Text))))
			}
			return answer(req, 200, header, c.Input.Text), nil
		}
		_, err := fetcher(ask).Fetch(context.Background(), getmodules.Request{Package: addrs.ParseModulePackage("oci://registry.example.com/net"), Dir: r.dir()})
		r.checkTree(err)
		// The blob of another digest is not found.
		reasons := []error{getmodules.ErrOCIContent, getmodules.ErrOCIArtifact, getmodules.ErrTooLarge, fs.ErrNotExist}
		if c.Class == "oci/digest" {
			reasons = reasons[:1]
		}
		if err != nil && !slices.ContainsFunc(reasons, func(reason error) bool { return errors.Is(err, reason) }) {
			r.found = append(r.found, fmt.Sprintf("the error %v does not say why", err))
		}
		return false, err
	})
}

func goodZip(all iter.Seq[Case[Archive]]) []byte {
	for c := range all {
		if c.Class == "archive/good" {
			return c.Input.Bytes
		}
	}
	return nil
}
