package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/internal/testenv"
)

// secretRow is a row of the table in docs/spec/trust.md: a secret of the user, and a place that an
// address names. The user also has a secret of the same kind for each other host of corp.example, which
// must not arrive at the target.
type secretRow struct {
	secret, scheme string
	// tool is the one that the run is for; "" means tofu.
	tool string
	// target is the host that addresses name.
	target string
	// source is the address in a configuration, and location the address that a server names; ""
	// means that it is the source.
	source, location string
	// redirects is a source whose host redirects all requests to the target, or to redirectedTo. ""
	// means that such a source cannot be redirected.
	redirects, redirectedTo string
	// mirrored is set if a mirror of providers can name such an address.
	mirrored bool
	// file is the name of a file in the home directory that has this entry for each host. HOST stands
	// for it, CANARY for the secret, and BASIC for a user name with the secret, in base64.
	file, entry string
	// settings are the user's own settings, and cli is a part of the CLI configuration.
	settings, cli string
	// env are variables, in which HOME stands for the home directory.
	env []string
}

const (
	targetHost = "target.corp.example"
	targetZip  = "https://target.corp.example/x.zip"
	amazonHost = "modules.s3.eu-west-1.amazonaws.com"
	// sshHost needs no DNS. No packet is sent to it: the program ssh is replaced.
	sshHost = "203.0.113.7"
	// targetCanary is the user's secret for the target, or for all hosts, and otherCanary that for each
	// other host.
	targetCanary = "cnrytargetz"
	otherCanary  = "cnryotherz"
)

// otherHosts are the hosts that name the target, or are redirected to it.
var otherHosts = []string{"other.corp.example", "open.corp.example", "page.corp.example", "registry.corp.example", "mirror.corp.example"}

func secretRows() []secretRow {
	const (
		token  = "credentials \"HOST\" {\n  token = \"CANARY\"\n}\n"
		plain  = "host \"target.corp.example\" {\n  services = {\n    \"modules.v1\" = \"http://target.corp.example/v1/modules/\"\n  }\n}\n"
		netrc  = "machine HOST login user password CANARY\n"
		docker = "\"HOST\": {\"auth\": \"BASIC\"},"
		oci    = "oci_credentials \"HOST\" {\n  username = \"user\"\n  password = \"CANARY\"\n}\n"
		helper = "[credential \"SCHEME://HOST\"]\n\thelper = \"!f() { echo username=user; echo password=CANARY; }; f\"\n"
		one    = "[profile one]\naws_access_key_id = CANARY\naws_secret_access_key = secret\n"
		named  = "s3_endpoints = [\"https://other.corp.example\", \"https://target.corp.example\", \"http://target.corp.example\"]\n"
		other  = "s3_endpoints = [\"https://other.corp.example\"]\n"
	)
	aws := []string{"AWS_ACCESS_KEY_ID=CANARY", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=CANARY"}
	profile := []string{"AWS_ACCESS_KEY_ID=default", "AWS_SECRET_ACCESS_KEY=secret", "AWS_CONFIG_FILE=HOME/profiles"}
	const amazon = amazonHost
	const s3Redirects = "s3::https://other.corp.example/modules/x.zip"
	return []secretRow{
		{secret: "registry token", scheme: "https", target: targetHost, source: "target.corp.example/acme/net/aws", location: targetZip, redirects: "other.corp.example/acme/net/aws", mirrored: true, file: ".tofurc", entry: token},
		{secret: "registry token", scheme: "http", target: targetHost, source: "target.corp.example/acme/net/aws", location: "http://target.corp.example/x.zip", redirects: "other.corp.example/acme/net/aws", mirrored: true, file: ".tofurc", entry: token, cli: plain},
		{secret: "netrc, for archives", scheme: "https", target: targetHost, source: targetZip, redirects: "https://other.corp.example/x.zip", mirrored: true, file: ".netrc", entry: netrc},
		{secret: "netrc, for archives", scheme: "http", target: targetHost, source: "http://target.corp.example/x.zip", redirects: "https://other.corp.example/x.zip", mirrored: true, file: ".netrc", entry: netrc},
		{secret: "netrc, for archives, with `--for terraform`", tool: "terraform", scheme: "https", target: targetHost, source: targetZip, redirects: "https://other.corp.example/x.zip", mirrored: true, file: ".netrc", entry: netrc},
		{secret: "netrc, for archives, with `--for terraform`", tool: "terraform", scheme: "http", target: targetHost, source: "http://target.corp.example/x.zip", redirects: "https://other.corp.example/x.zip", mirrored: true, file: ".netrc", entry: netrc},
		{secret: "netrc, for git", scheme: "https", target: targetHost, source: "git::https://target.corp.example/net.git", redirects: "git::https://other.corp.example/net.git", file: ".netrc", entry: netrc},
		{secret: "netrc, for git", scheme: "http", target: targetHost, source: "git::http://target.corp.example/net.git", redirects: "git::https://other.corp.example/net.git", file: ".netrc", entry: netrc},
		{secret: "git credential helpers", scheme: "https", target: targetHost, source: "git::https://target.corp.example/net.git", redirects: "git::https://other.corp.example/net.git", file: ".gitconfig", entry: helper},
		{secret: "git credential helpers", scheme: "http", target: targetHost, source: "git::http://target.corp.example/net.git", redirects: "git::https://other.corp.example/net.git", file: ".gitconfig", entry: helper},
		{secret: "ssh agent", scheme: "ssh", target: sshHost, source: "git::ssh://git@" + sshHost + "/net.git"},
		{secret: "Docker's configuration", scheme: "https", target: targetHost, source: "oci://target.corp.example/acme/net", redirects: "oci://other.corp.example/acme/net", file: ".docker/config.json", entry: docker},
		{secret: "Docker's configuration", scheme: "http (`plain_http`)", target: targetHost, source: "oci://target.corp.example/acme/net", redirects: "oci://other.corp.example/acme/net", file: ".docker/config.json", entry: docker, settings: "plain_http = [\"target.corp.example\"]\n"},
		{secret: "`oci_credentials`", scheme: "https", target: targetHost, source: "oci://target.corp.example/acme/net", redirects: "oci://other.corp.example/acme/net", file: ".tofurc", entry: oci},
		{secret: "AWS, at Amazon", scheme: "https", target: amazon, source: "s3::https://" + amazon + "/x.zip", redirects: s3Redirects, settings: other, env: aws},
		{secret: "AWS, at Amazon, with `aws_profile` in the address", scheme: "https", target: amazon, source: "s3::https://" + amazon + "/x.zip?aws_profile=one", redirects: s3Redirects + "?aws_profile=one", file: "profiles", entry: one, settings: other, env: profile},
		{secret: "AWS, at a server that you named", scheme: "https", target: targetHost, source: "s3::https://target.corp.example/modules/x.zip", redirects: s3Redirects, settings: named, env: aws},
		{secret: "AWS, at a server that you named", scheme: "http", target: targetHost, source: "s3::http://target.corp.example/modules/x.zip", redirects: s3Redirects, settings: named, env: aws},
		{secret: "AWS, at another server", scheme: "https", target: targetHost, source: "s3::https://target.corp.example/modules/x.zip", redirects: s3Redirects, settings: other, env: aws},
		{secret: "AWS, at another server", scheme: "http", target: targetHost, source: "s3::http://target.corp.example/modules/x.zip", redirects: s3Redirects, settings: other, env: aws},
		{secret: "Google", scheme: "https", target: "storage.googleapis.com", source: "gcs::https://www.googleapis.com/storage/v1/modules/x.zip", redirects: "gcs::https://www.googleapis.com/storage/v1/modules/x.zip", redirectedTo: targetHost, env: []string{"GOOGLE_OAUTH_ACCESS_TOKEN=CANARY"}},
		{secret: "cookies that an answer sets", scheme: "https", target: targetHost, source: targetZip, redirects: "https://other.corp.example/x.zip", mirrored: true},
	}
}

// bringers are the columns of the table: who names the address.
var bringers = []string{"your configuration", "a package", "a registry", "a web page", "a redirect", "a provider mirror"}

// The values of a cell.
const (
	isSent     = "**sent**"
	isNotSent  = "not sent"
	noRequest  = "no request"
	impossible = "–"
)

// TestWhereCredentialsGo runs the command for each cell of the table in docs/spec/trust.md: with a secret,
// and an address that someone has named. All names are served by one proxy, which records what arrives
// at which host. The table has what was recorded.
func TestWhereCredentialsGo(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("/bin/sh is not installed")
	}
	needCommands(t, "git")
	internet := newRecordedInternet(t)
	var table strings.Builder
	fmt.Fprintf(&table, "| secret | scheme | %s |\n|---|---|%s\n", strings.Join(bringers, " | "), strings.Repeat("---|", len(bringers)))
	for _, row := range testenv.Sample(secretRows(), func(r secretRow) string {
		kind, _, _ := strings.Cut(r.secret, ",") // "netrc, for git" is netrc
		return kind
	}) {
		fmt.Fprintf(&table, "| %s | %s |", row.secret, row.scheme)
		for _, by := range bringers {
			fmt.Fprintf(&table, " %s |", internet.cell(t, row, by))
		}
		table.WriteByte('\n')
	}
	const page, begin, end = "../../docs/spec/trust.md", "<!-- The table is made by go test ./cmd/cotter -run TestWhereCredentialsGo -update. -->\n\n", "\n<!-- The end of the table. -->"
	text := readFile(t, page)
	head, rest, found := strings.Cut(string(text), begin)
	old, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no table", page)
	}
	if *update {
		testenv.WriteFile(t, page, head+begin+table.String()+end+tail)
		return
	}
	if !*testenv.Exhaustive {
		for line := range strings.Lines(table.String()) {
			if !strings.Contains(old, line) {
				t.Errorf("the table of %s does not have the line\n%s", page, line)
			}
		}
		return
	}
	if diff := gocmp.Diff(old, table.String()); diff != "" {
		t.Errorf("the table of %s (-page +recorded):\n%s", page, diff)
	}
}

// recordedInternet has all hosts of the table, and records what they are sent.
type recordedInternet struct {
	proxy, authority string // the URL of its proxy, and the file with its certificates

	mu     sync.Mutex
	naming naming
	seen   map[string]*received // by the scheme and the host
}

// received is what a host, with its scheme, was sent.
type received struct {
	requests      int
	secret, other bool
}

func newRecordedInternet(t *testing.T) *recordedInternet {
	t.Helper()
	web := webtest.New(t)
	in := &recordedInternet{authority: filepath.Join(t.TempDir(), "ca.pem")}
	for _, host := range append(slices.Clone(otherHosts), targetHost, amazonHost, "www.googleapis.com", "storage.googleapis.com") {
		web.Serve("https://"+host, in.ServeHTTP)
		web.Serve("http://"+host, in.ServeHTTP)
	}
	testenv.WriteFile(t, in.authority, string(web.Certificates()))
	in.proxy = web.Proxy()
	return in
}

// naming is the situation of a cell: who names which address.
type naming struct {
	// scheme and target are the place where the secret may arrive.
	scheme, target string
	// main is the configuration, and at the host that names the address in brought.
	main, at, brought string
	// from redirects to the host to; "" if nothing is redirected.
	from, to string
}

// naming returns the situation in which someone names the row's address. ok is false if there is none.
func (row secretRow) naming(by string) (_ naming, ok bool) {
	call := func(source string) string { return fmt.Sprintf("module \"x\" {\n  source = %q\n}\n", source) }
	s := naming{target: row.target, brought: row.location, to: row.target}
	if s.brought == "" {
		s.brought = row.source
	}
	s.scheme, _, _ = strings.Cut(row.scheme, " ")
	switch by {
	case "your configuration":
		s.main = call(row.source)
	case "a package":
		s.main, s.at, s.brought = call("https://open.corp.example/package.zip"), "open.corp.example", row.source
	case "a registry":
		s.main, s.at = call("registry.corp.example/acme/net/aws"), "registry.corp.example"
	case "a web page":
		s.main, s.at = call("https://page.corp.example/page"), "page.corp.example"
	case "a redirect":
		s.main, s.from = call(row.redirects), "other.corp.example"
		if row.redirectedTo != "" {
			s.from, s.to, s.target = row.target, row.redirectedTo, row.redirectedTo
		}
		s.at = s.from
		return s, row.redirects != ""
	case "a provider mirror":
		s.main = "terraform {\n  required_providers {\n    x = {\n      source = \"target.corp.example/acme/x\"\n    }\n  }\n}\n"
		s.at, s.brought = "mirror.corp.example", s.scheme+"://"+targetHost+"/x.zip"
		return s, row.mirrored
	}
	return s, true
}

// writeHome writes the user's files.
func (row secretRow) writeHome(t *testing.T, home, scheme, by string) {
	t.Helper()
	files := map[string]string{".config/cotter/cotter.hcl": row.settings, "bin/ssh": "#!/bin/sh\necho \"$@\" >>'" + home + "/connections'\nexit 255\n"}
	for _, host := range append(slices.Clone(otherHosts), targetHost) {
		canary := otherCanary
		if host == targetHost {
			canary = targetCanary
		}
		if row.file != "profiles" || host == targetHost { // a profile is for all hosts
			basic := base64.StdEncoding.EncodeToString([]byte("user:" + canary))
			files[row.file] += strings.NewReplacer("HOST", host, "CANARY", canary, "SCHEME", scheme, "BASIC", basic).Replace(row.entry)
		}
	}
	if row.file == ".docker/config.json" {
		files[row.file] = `{"auths": {` + strings.TrimSuffix(files[row.file], ",") + "}}"
	}
	settings := ".tofurc"
	if row.tool == "terraform" {
		settings = ".terraformrc"
	}
	files[settings] += row.cli
	if by == "a provider mirror" {
		files[settings] += "provider_installation {\n  network_mirror {\n    url = \"https://mirror.corp.example/\"\n  }\n}\n"
	}
	delete(files, "") // of a row without a file
	for name, text := range files {
		testenv.WriteProgram(t, filepath.Join(home, name), text)
	}
}

func (in *recordedInternet) cell(t *testing.T, row secretRow, by string) string {
	t.Helper()
	s, ok := row.naming(by)
	if !ok {
		return impossible
	}
	in.mu.Lock()
	in.naming, in.seen = s, map[string]*received{}
	in.mu.Unlock()
	home, project := t.TempDir(), t.TempDir()
	row.writeHome(t, home, s.scheme, by)
	testenv.WriteFile(t, filepath.Join(project, "main.tf"), s.main)
	env := append(testenv.Variables(),
		"HOME="+home, "COTTER_CACHE_DIR="+filepath.Join(home, "cache"), "PATH="+filepath.Join(home, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "GIT_SSH_COMMAND=ssh", "SSH_AUTH_SOCK="+filepath.Join(home, "agent"),
		"HTTPS_PROXY="+in.proxy, "HTTP_PROXY="+in.proxy, "https_proxy="+in.proxy, "http_proxy="+in.proxy, "SSL_CERT_FILE="+in.authority, "GIT_SSL_CAINFO="+in.authority,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "CI=", "NO_COLOR=1", "TF_REGISTRY_DISCOVERY_RETRY=1", "AWS_MAX_ATTEMPTS=1", "AWS_EC2_METADATA_DISABLED=true")
	for _, entry := range row.env {
		env = append(env, strings.NewReplacer("CANARY", targetCanary, "HOME", home).Replace(entry))
	}
	out, err := warm.run(project, env, "install", "--for="+cmp.Or(row.tool, "tofu"))
	if err == nil {
		t.Errorf("%s, %s, %s: the command succeeds, although no server has a module", row.secret, row.scheme, by)
	}

	in.mu.Lock()
	defer in.mu.Unlock()
	if s.at != "" && in.seen["https "+s.at] == nil {
		t.Errorf("%s, %s, %s: %s was not asked, so the address was not named\n%s", row.secret, row.scheme, by, s.at, out)
	}
	for host, got := range in.seen {
		if strings.HasSuffix(host, " "+s.target) && got.other || row.file != "" && host != s.scheme+" "+s.target && got.secret && host != "https "+s.at {
			t.Errorf("%s, %s, %s: a secret for another host is sent to %s", row.secret, row.scheme, by, host)
		}
	}
	got := in.seen[s.scheme+" "+s.target]
	if s.scheme == "ssh" {
		connections, _ := os.ReadFile(filepath.Join(home, "connections")) // absent if there was none
		got = &received{secret: bytes.Contains(connections, []byte(s.target))}
	}
	switch {
	case got != nil && got.secret:
		return isSent
	case got == nil || s.scheme == "ssh":
		return noRequest
	}
	return isNotSent
}

func (in *recordedInternet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request bytes.Buffer
	_ = r.Write(&request) // a broken request has no secret
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	host, _, _ := strings.Cut(r.Host, ":")
	in.mu.Lock()
	got := in.seen[scheme+" "+host]
	if got == nil {
		got = &received{}
		in.seen[scheme+" "+host] = got
	}
	got.requests++
	has := func(canary string) bool {
		return slices.ContainsFunc(spellings(canary), func(spelling string) bool { return strings.Contains(request.String(), spelling) })
	}
	got.secret, got.other = got.secret || has(targetCanary), got.other || has(otherCanary)
	first, s := got.requests == 1, in.naming
	in.mu.Unlock()

	w.Header().Set("Set-Cookie", "session="+targetCanary+"; Domain=corp.example; Path=/")
	answerJSON := func(text string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
	}
	switch path := r.URL.Path; {
	case path == "/.well-known/terraform.json":
		answerJSON(`{"modules.v1": "/v1/modules/", "providers.v1": "/v1/providers/"}`)
	case host == s.from && !strings.HasPrefix(path, "/again"):
		http.Redirect(w, r, s.scheme+"://"+s.to+r.URL.RequestURI(), http.StatusFound)
	case host == "open.corp.example":
		archive := zip.NewWriter(w)
		file, err := archive.Create("main.tf")
		if err == nil {
			fmt.Fprintf(file, "module \"nested\" {\n  source = %q\n}\n", s.brought)
		}
		_ = archive.Close()
	case host == "page.corp.example", host == "registry.corp.example" && strings.HasSuffix(path, "/download"):
		w.Header().Set("X-Terraform-Get", s.brought)
		w.WriteHeader(http.StatusNoContent)
	case host == "registry.corp.example":
		answerJSON(`{"modules": [{"versions": [{"version": "1.0.0"}]}]}`)
	case host == "mirror.corp.example" && strings.HasSuffix(path, "/index.json"):
		answerJSON(`{"versions": {"1.0.0": {}}}`)
	case host == "mirror.corp.example":
		answerJSON(fmt.Sprintf(`{"archives": {"%s_%s": {"url": %q}}}`, runtime.GOOS, runtime.GOARCH, s.brought))
	case first && strings.HasSuffix(path, ".zip"):
		http.Redirect(w, r, "/again.zip", http.StatusFound) // with the cookie
	case r.Header.Get("Authorization") == "":
		w.Header().Set("WWW-Authenticate", `Basic realm="target"`)
		w.WriteHeader(http.StatusUnauthorized)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
