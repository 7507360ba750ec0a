package getmodules_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/getmodules"
)

func TestChecksum(t *testing.T) {
	t.Parallel()
	body := sampleZip()
	sum := fmt.Sprintf("%x", sha256.Sum256(body))
	other := strings.Repeat("0", 64)
	site := newSite(t, map[string]http.HandlerFunc{
		"/a.zip": serve(body),
		"/page":  leadTo("https://example.com/a.zip"),
		"/gnu":   serve([]byte(other + "  b.zip\n" + sum + "  a.zip\n")),
		"/star":  serve([]byte(sum + " *./a.zip\r\n" + other + " *b.zip")),
		"/bsd":   serve([]byte("MD5 (b.zip) = 00\nSHA256 (a.zip) = " + sum + "\n")),
		"/alone": serve([]byte(sum + "\n")),
		"/wrong": serve([]byte(other + "  a.zip\n")),
		"/none":  serve([]byte(sum + "  c.zip\n" + other + "  b.zip")),
		"/long":  serve(make([]byte, 1<<20+1)),
	})
	sums := func(path string) string { return "file:" + site.URL + path }
	good := []string{
		sum, strings.ToUpper(sum), "sha256:" + sum, fmt.Sprintf("%x", md5.Sum(body)), fmt.Sprintf("md5:%x", md5.Sum(body)),
		fmt.Sprintf("%x", sha1.Sum(body)), fmt.Sprintf("sha512:%x", sha512.Sum512(body)),
		sums("/gnu"), sums("/star"), sums("/bsd"), sums("/alone"), "file:" + site.withUserinfo("/gnu"),
	}
	for _, checksum := range good {
		_, pkg, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?x=1&checksum="+url.QueryEscape(checksum))
		if err != nil || pkg.Resolved.String() != site.URL+"/a.zip" {
			t.Errorf("checksum=%s: %+v, %v", checksum, pkg, err)
		}
	}
	for _, line := range site.asked() {
		if strings.Contains(line, "checksum") {
			t.Errorf("the server was asked %q", line)
		}
	}
	for _, checksum := range []string{other, "sha256:" + other, sums("/wrong"), fmt.Sprintf("%x", md5.Sum(nil))} {
		_, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?checksum="+url.QueryEscape(checksum))
		if !errors.Is(err, getmodules.ErrChecksum) {
			t.Errorf("checksum=%s: error is %v, want ErrChecksum", checksum, err)
		}
	}
	bad := []string{
		"abc", "xyz", "00", "sha256:" + sum[1:], "md5:" + sum, "crc32:00000000", "sha3:" + sum, "file:", "file:/etc/passwd", "file:relative",
		"file:file:///etc/passwd", sums("/none"), sums("/missing"), sums("/long"),
	}
	for _, checksum := range bad {
		if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/a.zip?checksum="+url.QueryEscape(checksum)); err == nil {
			t.Errorf("checksum=%s is no error", checksum)
		}
	}
	if _, _, err := fetchURL(t, newHTTPFetcher(), site.URL+"/page?checksum="+sum); err == nil || len(site.asked()) == 0 {
		t.Error("a checksum of a page is no error")
	}
}

func FuzzChecksumInFile(f *testing.F) {
	f.Add("d41d8cd98f00b204e9800998ecf8427e  a.zip\n", "a.zip")
	f.Add("MD5 (a.zip) = d41d8cd98f00b204e9800998ecf8427e", "a.zip")
	f.Add("d41d8cd98f00b204e9800998ecf8427e", "")
	f.Fuzz(func(t *testing.T, text, name string) {
		if sum, err := getmodules.ChecksumInFile(text, name); err == nil && !strings.Contains(strings.ToLower(text), fmt.Sprintf("%x", sum)) {
			t.Errorf("ChecksumInFile(%q, %q) = %x, which is not in it", text, name, sum)
		}
	})
}
