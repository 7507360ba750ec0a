package getmodules_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/getmodules"
)

func FuzzArchiveAddress(f *testing.F) {
	for _, seed := range []string{
		"https://h.com/x.zip", "https://u:p@h.com/x?archive=zip&token=t", "https://h.com/x.tar.gz?checksum=md5:0#f", "https://h.com/x?archive=zip;a=b", "file:///x.zip", "/x.zip", "file::/x", "https://h.com/?archive=%7a%69p", "https://h.com/x?%zz=1&archive", "http:0@0", "file:@",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, address string) {
		source, err := addrs.ParseModuleSource(address)
		remote, ok := source.(addrs.ModuleSourceRemote)
		if err != nil || !ok || !slices.Contains([]string{"file", "http", "https"}, remote.Package.Getter()) {
			return
		}
		asked, resolved, err := getmodules.ArchiveAddress(remote.Package)
		if err != nil {
			return
		}
		_, query, _ := strings.Cut(asked, "?")
		for arg := range strings.SplitSeq(query, "&") {
			if name, _, _ := strings.Cut(arg, "="); name == "archive" || name == "checksum" {
				t.Errorf("%q asks for %q", address, asked)
			}
		}
		if kept := addrs.ParseModulePackage(resolved); kept.WithoutCredentials() != kept {
			t.Errorf("%q is kept as %q", address, resolved)
		}
	})
}
