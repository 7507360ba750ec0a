package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/cotterpin/cotter/bench/internal/report"
)

// mostMemory is the 512 MB of docs/spec/trust.md, in MiB.
const mostMemory = 488

// attack is what a hostile author or server sends, and the command that reads it.
type attack struct {
	name string
	// build returns the project's files, in which HOST stands for the server, and the server.
	build   func() (files map[string]string, serve http.Handler)
	args    []string // nil means an installation of modules
	env     []string
	refused bool // the command must fail
}

// hostileMeasured has no goal for times.
func hostileMeasured() world {
	w := world{
		name:     "hostile",
		about:    "Small inputs of hostile authors and servers that used to take much memory",
		notes:    []string{"Memory is that of Cotter; a git that it starts has limits of its own. Each row runs once."},
		oursOnly: true,
	}
	for _, a := range attacks() {
		ph := phase{name: a.name, work: commands{ours: a.args}, env: a.env, refused: a.refused, once: true}
		if a.args == nil {
			ph.work = modules
		}
		w.parts = append(w.parts, part{start: startHostile(a), phases: []phase{ph}})
		w.goals = append(w.goals, report.MemoryBelow(a.name, mostMemory))
	}
	return w
}

func attacks() []attack {
	list := []attack{
		{name: "progress of git without end", build: calls(1, "git::http://HOST/r%d.git?ref=v1", func() http.Handler { return serveGit(nil, strings.Repeat("1", 40)) }), refused: true},
		{name: "a pack of 27 kB with 400 deltas of 15 MiB", build: calls(1, "git::http://HOST/r%d.git?ref=v1", servePack(bombPack, 401, 15<<20)), refused: true},
		{name: "a bundle whose index has 63 MiB of empty manifests", build: emptyManifests, args: []string{"bundle", "verify", "bundle.tar"}, refused: true},
		{name: "a list of objects of 1,000 optional attributes", build: optionalAttributes, refused: true},
		{name: "YAML with aliases of aliases", build: aliases, refused: true},
	}
	for _, n := range []int{1, 8, 16} {
		list = append(list, attack{
			name:  fmt.Sprintf("packs of 16 kB with deltas of 195 MiB: %d", n),
			build: calls(n, "git::http://HOST/r%d.git?ref=v1", servePack(bombPack, 13, 15<<20)),
		}, attack{
			name:  fmt.Sprintf("packs with a directory of 480,000 names: %d", n),
			build: calls(n, "git::http://HOST/r%d.git?ref=v1", servePack(widePack, 480_000, 0)), refused: true,
		}, attack{
			name:  fmt.Sprintf("packs with a directory of 480,000 long paths: %d", n),
			build: calls(n, "git::http://HOST/r%d.git?ref=v1", servePack(widePack, 480_000, 4)), refused: true,
		})
	}
	list = append(list, attack{
		name:  "zip archives with 500,000 entries: 16",
		build: calls(16, "http://HOST/a%d.zip", func() http.Handler { return serveBytes(manyInZip(500_000), "application/zip", "") }), refused: true,
	}, attack{
		name:  "tar archives with 30,000 entries: 16",
		build: calls(16, "http://HOST/a%d.tar.gz", func() http.Handler { return serveBytes(manyInTar(30_000), "application/gzip", "") }), refused: true,
	})
	for _, n := range []int{1, 2, 4, 8} {
		list = append(list, attack{
			name:  fmt.Sprintf("packs of 250 kB with objects of 240 MiB, without git: %d", n),
			build: calls(n, "git::http://HOST/r%d.git?ref=v1", servePack(bombPack, 2, 240<<20)), env: []string{"COTTER_GIT_BACKEND=go"},
		})
	}
	const (
		requirement = "    p%[1]d = {\n      source = \"HOST/acme/p%[1]d\"\n    }\n"
		call        = "module \"m%[1]d\" {\n  source  = \"HOST/acme/m%[1]d/aws\"\n  version = \"~> 1.0\"\n}\n"
	)
	for _, l := range []struct {
		name, element string
		size          int
		// These are how many ask for such a listing.
		providers, modules []int
	}{
		{"31 MiB of {}", "{}", 31 << 20, []int{1, 3}, []int{1, 4}},
		{"90,000 versions", `{"version":"2.0.#"}`, 90_000 * 23, []int{64}, []int{64}},
	} {
		for _, n := range l.providers {
			list = append(list, attack{
				name:  fmt.Sprintf("%s for a provider: %d", l.name, n),
				build: listings(n, `{"versions":[`, l.element, l.size, `]}`, "terraform {\n  required_providers {\n", requirement, "  }\n}\n"),
				args:  []string{"install"}, refused: true,
			})
		}
		for _, n := range l.modules {
			list = append(list, attack{
				name:  fmt.Sprintf("%s for a module: %d", l.name, n),
				build: listings(n, `{"modules":[{"versions":[`, l.element, l.size, `]}]}`, "", call, ""), refused: true,
			})
		}
	}
	return append(list, attack{
		name:  "a signing key of 15 MiB for a provider: 64",
		build: largeKeys(64, 15<<20, requirement), args: []string{"install"}, refused: true,
	})
}

// calls is a project with calls of modules. In source, %d stands for the number of the call.
func calls(n int, source string, serve func() http.Handler) func() (map[string]string, http.Handler) {
	return func() (map[string]string, http.Handler) {
		var main strings.Builder
		for i := range n {
			fmt.Fprintf(&main, "module \"m%d\" {\n  source = %q\n}\n", i, fmt.Sprintf(source, i))
		}
		return map[string]string{"main.tf": main.String()}, serve()
	}
}

func servePack(pack func(n, size int) ([]byte, string), n, size int) func() http.Handler {
	return func() http.Handler { return serveGit(pack(n, size)) }
}

// listings is a project with calls or requirements, in which %[1]d stands for a number, and a registry whose listings repeat
// an element up to a size.
func listings(n int, open, element string, size int, end, before, each, after string) func() (map[string]string, http.Handler) {
	return func() (map[string]string, http.Handler) {
		main := before
		for i := range n {
			main += fmt.Sprintf(each, i)
		}
		var listing strings.Builder
		listing.WriteString(open)
		for i := 0; listing.Len() < size; i++ {
			listing.WriteString(strings.ReplaceAll(element, "#", strconv.Itoa(i)) + ",")
		}
		listing.WriteString("{}" + end)
		return map[string]string{"main.tf": main + after}, serveBytes(zipped([]byte(listing.String())), "application/json", "gzip")
	}
}

// largeKeys is a project with requirements of providers, and a registry that reports a long signing key for each.
func largeKeys(n, size int, each string) func() (map[string]string, http.Handler) {
	return func() (map[string]string, http.Handler) {
		main := "terraform {\n  required_providers {\n"
		for i := range n {
			main += fmt.Sprintf(each, i)
		}
		listing := serveBytes([]byte(`{"versions":[{"version":"1.0.0"}]}`), "application/json", "")
		report := serveBytes(zipped(fmt.Appendf(nil, `{"os":%q,"arch":%q,"filename":"a.zip","shasum":"%064d","download_url":"/a.zip","shasums_url":"/sums","shasums_signature_url":"/sig",
			"signing_keys":{"gpg_public_keys":[{"key_id":"A","ascii_armor":%q}]}}`, runtime.GOOS, runtime.GOARCH, 0, strings.Repeat("x", size))), "application/json", "gzip")
		return map[string]string{"main.tf": main + "  }\n}\n"}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "/download/") {
				report.ServeHTTP(w, r)
			} else {
				listing.ServeHTTP(w, r)
			}
		})
	}
}

func serveBytes(body []byte, contentType, encoding string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		_, _ = w.Write(body) // fails only if the client has disconnected
	})
}

func zipped(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

func tarOf(files ...[2]string) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		_ = w.WriteHeader(&tar.Header{Name: f[0], Size: int64(len(f[1])), Mode: 0o644}) // a buffer takes everything
		_, _ = w.Write([]byte(f[1]))
	}
	_ = w.Close()
	return out.Bytes()
}

func emptyManifests() (map[string]string, http.Handler) {
	index := `{"schemaVersion":2,"manifests":[` + strings.Repeat("{},", 63<<20/3) + "{}]}"
	bundle := tarOf([2]string{"oci-layout", `{"imageLayoutVersion":"1.0.0"}`}, [2]string{"index.json", index})
	return map[string]string{"bundle.tar": string(bundle)}, http.NotFoundHandler()
}

func optionalAttributes() (map[string]string, http.Handler) {
	var main strings.Builder
	main.WriteString("variable \"x\" {\n  type = list(object({\n")
	for i := range 1000 {
		fmt.Fprintf(&main, "    a%d = optional(string, \"\")\n", i)
	}
	main.WriteString("  }))\n  default = [" + strings.Repeat("{},", 37<<10/3) + "]\n}\nmodule \"m\" {\n  source = \"./${length(var.x)}\"\n}\n")
	return map[string]string{"main.tf": main.String()}, http.NotFoundHandler()
}

func aliases() (map[string]string, http.Handler) {
	var yaml strings.Builder
	yaml.WriteString("a0: &a0 [x]\n")
	for i := range 12 {
		fmt.Fprintf(&yaml, "a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 15))
	}
	return map[string]string{"v.yaml": yaml.String(), "main.tf": "module \"m\" {\n  source = yamldecode(file(\"v.yaml\")).a0[0]\n}\n"}, http.NotFoundHandler()
}

// manyInZip has two entries with the same name, so that it is refused before it writes the others.
func manyInZip(n int) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range n - 1 {
		_, _ = w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("d/f%06d", i)}) // a buffer takes everything
	}
	_, _ = w.CreateHeader(&zip.FileHeader{Name: "d/f000000"})
	_ = w.Close()
	return out.Bytes()
}

// manyInTar ends with an entry that is refused.
func manyInTar(n int) []byte {
	files := make([][2]string, n)
	for i := range files {
		files[i][0] = fmt.Sprintf("d/f%06d", i)
	}
	files[n-1][0] = "../x"
	return zipped(tarOf(files...))
}

type hostileServers struct {
	plainServer
	files map[string]string
}

func startHostile(a attack) func() (servers, error) {
	return func() (servers, error) {
		s := &hostileServers{}
		var serve http.Handler
		s.files, serve = a.build()
		s.start(serve)
		return s, nil
	}
}

func (s *hostileServers) WriteTree(dir, _ string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is no secret
		return err
	}
	for name, text := range s.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "HOST", s.host())), 0o600); err != nil {
			return err
		}
	}
	return nil
}
