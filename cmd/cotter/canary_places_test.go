package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
)

type canary struct {
	name    string
	value   string // the value that servers receive
	written string // the text at the place where it was planted
	// spellings are the forms in which the secret may appear.
	spellings []string
}

// places are the names of all places that hold a secret. The secrets of places whose name
// contains a "/" have characters other than letters and digits, and are written escaped.
var places = []string{
	// Addresses.
	"git-password", "git-token", "git-name", "git-escaped/", "git-query", "git-ssh-password", "git-sshkey", "git-plain-query", "git-range",
	"http-password", "http-token", "http-escaped/", "http-query", "http-signature", "http-session", "http-fragment", "http-sums", "http-page", "http-plain",
	"aws-id", "aws-secret", "aws-token", "s3-password", "hg-password", "gcs-query", "oci-password", "oci-query", "malformed", "two-at", "nested",
	// Answers of servers.
	"location-query", "header-query", "redirect-query", "redirect-password",
	// The CLI configuration and the files it refers to.
	"block", "other-block", "login", "helper", "helper-argument", "variable", "variable-other", "oci-basic", "oci-access", "oci-refresh", "docker-auth", "docker-helper",
	// The user's other programs.
	"netrc", "git-header", "git-instead", "git-stored", "proxy",
	// Cotter itself.
	"state-key",
}

// inArguments are the secrets that appear in command lines: git passes the whole URL, with
// its query, to the programs that implement its protocols. The last one comes from the
// user's own git configuration.
var inArguments = []string{"git-query", "git-plain-query", "location-query", "redirect-query", "git-instead"}

var canaries = sync.OnceValue(func() []canary {
	all := make([]canary, len(places))
	for i, place := range places {
		name, special := strings.CutSuffix(place, "/")
		value := fmt.Sprintf("cnry%02dq%xz", i, uint32(i+1)*2654435761)
		if special {
			value = "p/" + value + "@%:"
		}
		all[i] = canary{name, value, url.PathEscape(value), spellings(value)}
		if special {
			all[i].written = url.QueryEscape(value)
		}
		if name == "git-sshkey" {
			all[i].written = base64.StdEncoding.EncodeToString([]byte("-----BEGIN KEY-----" + value))
		}
	}
	return all
})

// spellings returns the forms in which a secret may appear: its core as text, in
// hexadecimal, and in base64, which depends on the surrounding bytes.
func spellings(core string) []string {
	if i := strings.Index(core, "cnry"); i >= 0 {
		core = core[i : strings.IndexByte(core, 'z')+1]
	}
	forms := []string{core, hex.EncodeToString([]byte(core))}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + core))
		forms = append(forms, text[(shift*4+2)/3:len(text)-4])
	}
	return slices.Compact(forms)
}

// addressesWithCanaries are the source addresses that contain a secret. CLOSED stands for a
// port on which no server listens.
var addressesWithCanaries = map[string]string{
	"git_password":     "git::https://user:{git-password}@HOST/git/net.git?ref=v1.0.0",
	"git_token":        "git::https://{git-token}@HOST/git/net.git",
	"git_name":         "git::https://{git-name}:x-oauth-basic@HOST/git/net.git?ref=none",
	"git_escaped":      "git::https://user:{git-escaped}@HOST/git/net.git//sub",
	"git_query":        "git::https://HOST/git/net.git?access_token={git-query}&ref=v1.0.0",
	"git_ssh_password": "git::ssh://git:{git-ssh-password}@127.0.0.1:1/net.git",
	"git_sshkey":       "git::ssh://git@127.0.0.1:1/net.git?sshkey={git-sshkey}",
	"git_plain_query":  "git::PLAIN/git/net.git?ref=none&token={git-plain-query}",
	"git_range":        "git::https://user:{git-range}@HOST/git/net.git?version=~> 1.0",
	"http_password":    "https://user:{http-password}@HOST/archives/x.zip",
	"http_token":       "https://{http-token}@HOST/archives/x.tar.gz",
	"http_escaped":     "https://user:{http-escaped}@HOST/archives/x.zip//sub",
	"http_query":       "https://HOST/archives/x.zip?token={http-query}",
	"http_signature":   "https://HOST/archives/x.zip?X-Amz-Credential={aws-id}&X-Amz-Signature={http-signature}&X-Amz-Security-Token={http-session}",
	"http_fragment":    "https://HOST/archives/x.zip?a=b#{http-fragment}",
	"http_sums":        "https://HOST/archives/x.zip?checksum=file:https://user:{http-sums}@HOST/files/sums",
	"http_page":        "https://user:{http-page}@HOST/files/page?key={http-query}",
	"http_plain":       "http://user:{http-plain}@192.0.2.1/x.zip",
	"aws":              "s3::http://127.0.0.1:1/bucket/x.zip?aws_access_key_id={aws-id}&aws_access_key_secret={aws-secret}&aws_access_token={aws-token}&region=eu-west-1",
	"s3_password":      "s3::http://user:{s3-password}@127.0.0.1:1/bucket/x.zip",
	"hg_password":      "hg::http://user:{hg-password}@127.0.0.1:1/net",
	"gcs_query":        "gcs::https://127.0.0.1:1/storage/v1/bucket/x.zip?key={gcs-query}",
	"oci_password":     "oci://user:{oci-password}@HOST/acme/net",
	"oci_query":        "oci://HOST/acme/net?token={oci-query}",
	"oci":              "oci://HOST/acme/net?tag=1.0.0",
	"malformed":        "git::https://user:{malformed}@h h/net.git",
	"two_at":           "https://user:{two-at}@x@HOST/archives/x.zip",
	"git_header":       "git::https://HOST/git/header.git",
	"git_instead":      "git::https://instead.invalid/git/net.git",
	"login":            "127.0.0.1:4/acme/net/aws",
	"other":            "127.0.0.1:1/acme/net/aws",
	"variable":         "127.0.0.1:3/acme/net/aws",
	"helper":           "127.0.0.1:5/acme/net/aws",
	"registry":         "HOST/acme/net/aws",
	"nested":           "HOST/acme/calls/aws",
}

func canaryConfig(names ...string) string {
	var b strings.Builder
	for name, address := range addressesWithCanaries {
		if len(names) == 0 || slices.Contains(names, name) {
			fmt.Fprintf(&b, "module %q {\n  source = %q\n}\n", name, address)
		}
	}
	return b.String()
}

const canaryTree = `
-- registry/acme/net/aws/1.0.0/main.tf --
-- registry/acme/calls/aws/1.0.0/main.tf --
module "nested" {
  source = "git::https://user:cnry29qnestedz@MODTEST_HOST/git/none.git"
}
-- git/net.git/v1.0.0/main.tf --
-- git/net.git/v1.0.0/sub/main.tf --
-- git/header.git/v1.0.0/main.tf --
-- archives/x.zip/main.tf --
-- archives/x.zip/sub/main.tf --
-- archives/x.tar.gz/main.tf --
-- oci/acme%2Fnet/1.0.0/main.tf --
-- files/page --
<meta name="terraform-get" content="https://MODTEST_HOST/archives/x.zip">
-- files/sums --
0000000000000000000000000000000000000000000000000000000000000000  x.zip
`

// canaryHome is the content of the user's home directory.
var canaryHome = map[string]string{
	".tofurc": `
registry_protocols {
  retry_count = 0
}
credentials "HOST" {
  token = "{block}"
}
credentials "127.0.0.1:1" {
  token = "{other-block}"
}
credentials_helper "test" {
  args = ["{helper-argument}"]
}
oci_credentials "HOST" {
  username = "user"
  password = "{oci-basic}"
}
oci_credentials "HOST/acme/other" {
  access_token  = "{oci-access}"
  refresh_token = "{oci-refresh}"
}
`,
	".terraform.d/credentials.tfrc.json":              `{"credentials": {"127.0.0.1:4": {"token": "{login}"}}}`,
	".terraform.d/plugins/terraform-credentials-test": "#!/bin/sh\necho '{\"token\": \"{helper}\"}'\necho '{helper}' >&2\n",
	".docker/config.json":                             `{"auths": {"HOST": {"auth": "dXNlcjp7ZG9ja2VyLWF1dGh9", "identitytoken": "{docker-auth}"}}, "credHelpers": {"localhost:1": "test"}}`,
	"bin/docker-credential-test":                      "#!/bin/sh\necho '{\"Username\": \"user\", \"Secret\": \"{docker-helper}\"}'\n",
	".netrc":                                          "machine 127.0.0.1 login user password {netrc}\n",
	".git-credentials":                                "https://user:{git-stored}@HOST\n",
	".gitconfig":                                      "[credential]\n\thelper = store\n[http \"https://HOST/git/header.git\"]\n\textraHeader = Authorization: Bearer {git-header}\n[url \"https://user:{git-instead}@HOST/\"]\n\tinsteadOf = https://instead.invalid/\n",
	"ssh":                                             "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$GIT_TRACE\"\necho 'Permission denied (publickey).' >&2\nexit 255\n",
}

var canaryEnv = []string{
	"TF_TOKEN_127.0.0.1:3={variable}", "TF_TOKEN_example_com={variable-other}",
	"AWS_MAX_ATTEMPTS=1", "AWS_EC2_METADATA_DISABLED=true", // no waiting for retries or a metadata service
}
