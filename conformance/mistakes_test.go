package conformance_test

import (
	"io/fs"
	"net/http"
	"strings"
	"testing/fstest"

	"github.com/cotterpin/cotter/modtest"
)

const (
	discovery = "terraform.json$"
	list      = "/acme/net/aws/versions$"
	download  = "/1.2.0/download$"
	provider  = "/acme/cloud/versions$"
	platform  = "/acme/cloud/.*/linux/amd64$"
	tags      = "/acme/net/tags/list$"
	tagged    = "/acme/net/manifests/1.2.0$"
)

var oneFile = fstest.MapFS{"main.tf": {Data: []byte("# empty")}}

// pushed puts a module package of another shape into the OCI registry, as the newest version.
func pushed(shape modtest.OCIShape, files fs.FS) func(*modtest.World) error {
	return func(w *modtest.World) error { return w.PushOCI("acme/net", "1.3.0", shape, files) }
}

func shaped(shape modtest.ProviderShape) func(*modtest.World) error {
	return func(w *modtest.World) error { return w.SetProviderShape("acme/cloud", "1.0.0", shape) }
}

var discoveryMistakes = []mistake{
	{rule: "discovery.answer", at: discovery, status: 500},
	{rule: "discovery.https", at: discovery, status: 302, header: "Location: PLAIN/.well-known/terraform.json"},
	{rule: "discovery.type", at: discovery, header: "Content-Type: text/html"},
	{rule: "discovery.json", at: discovery, new: "<html>"},
	{rule: "discovery.json", at: discovery, new: "[]"},
	{rule: "discovery.json", at: discovery, new: `{"modules.v1":"/v1/modules/","x":"` + strings.Repeat("x", 1<<20) + `"}`},
	{rule: "discovery.service", at: discovery, old: "modules.v1", new: "modules.v2"},
	{rule: "discovery.url", at: discovery, new: `{"modules.v1":{"url":"/v1/modules/"}}`},
	{rule: "discovery.url", at: discovery, old: `/v1/modules/`, new: `/v1/modules/?key=1`},
	{rule: "discovery.slash", at: discovery, old: `/v1/modules/`, new: `/v1/modules`},
}

var moduleMistakes = []mistake{
	{rule: "modules.versions.status", at: list, status: 403},
	{rule: "modules.versions.type", at: list, header: "Content-Type: text/plain"},
	{rule: "modules.versions.json", at: list, old: "}", new: ""},
	{rule: "modules.versions.module", at: list, new: `{"modules":[]}`},
	{rule: "modules.versions.module", at: list, old: "acme/net/aws", new: "acme/other/aws"},
	{rule: "modules.versions.version", at: list, old: `"1.2.0"`, new: `"v1.2.0"`},
	{rule: "modules.versions.version", at: list, old: `"1.2.0"`, new: `"1.2"`},
	{rule: "modules.versions.unique", at: list, old: `"1.2.0"`, new: `"1.0.0"`},
	{rule: "modules.versions.unknown", at: "does-not-exist.*/versions$", status: 200},
	{rule: "modules.versions.stable", at: list, old: "1.2.0", new: "1.3.0", second: true},
	{rule: "modules.download.status", at: download, status: 302},
	{rule: "modules.download.address", at: download, header: "X-Terraform-Get: ", new: "{}"},
	{rule: "modules.download.valid", at: download, header: "X-Terraform-Get: nowhere"},
	{rule: "modules.download.version", at: download, header: "X-Terraform-Get: https://example.com/other.zip", second: true},
	{rule: "modules.download.fetch", at: "1.2.0.tar.gz$", status: 404},
	{rule: "modules.download.unknown", at: "/0.0.0-.*/download$", status: 500},
}

var providerMistakes = []mistake{
	{rule: "providers.versions.status", at: provider, status: 401},
	{rule: "providers.versions.type", at: provider, header: "Content-Type: text/plain"},
	{rule: "providers.versions.json", at: provider, new: `{"versions":{}}`},
	{rule: "providers.versions.version", at: provider, old: `"1.0.0"`, new: `"1.0"`},
	{rule: "providers.versions.unique", at: provider, old: `"versions":[`, new: `"versions":[{"version":"1.0.0","protocols":["5.0"],"platforms":[{"os":"linux","arch":"amd64"}]},`},
	{rule: "providers.versions.protocols", at: provider, old: `"protocols":["5.0"]`, new: `"protocols":["5"]`},
	{rule: "providers.versions.platforms", at: provider, old: `"arch"`, new: `"cpu"`},
	{rule: "providers.versions.unknown", at: "does-not-exist.*/versions$", status: 200},
	{rule: "providers.package.status", at: platform, status: 404},
	{rule: "providers.package.type", at: platform, header: "Content-Type: text/plain"},
	{rule: "providers.package.json", at: platform, new: `{"os":1}`},
	{rule: "providers.package.platform", at: platform, old: `"arch":"amd64"`, new: `"arch":"arm64"`},
	{rule: "providers.package.protocols", at: platform, old: `"5.0"`, new: `"6.0"`},
	{rule: "providers.package.filename", at: platform, old: `"filename":"terraform-provider-`, new: `"filename":"provider-`},
	{rule: "providers.package.shasum", at: platform, old: `"shasum":"`, new: `"shasum":"sha256:`},
	{rule: "providers.package.urls", at: platform, old: `"shasums_url"`, new: `"sums_url"`},
	{rule: "providers.package.keys", at: platform, old: `"gpg_public_keys"`, new: `"keys"`},
	{rule: "providers.package.sums", at: "SHA256SUMS$", old: "linux_amd64", new: "linux_386"},
	{rule: "providers.package.sums", at: "SHA256SUMS$", status: 404},
	{rule: "providers.package.signature", at: "SHA256SUMS$", old: "\n", new: "\n\n"},
	{rule: "providers.package.signature", at: "SHA256SUMS.sig$", status: 404},
	{rule: "providers.package.archive", at: "linux_amd64.zip$", new: "not the archive"},
	{rule: "providers.package.program", noProgram: true},
	{rule: "providers.package.keys", prepare: shaped(modtest.ProviderNoKeys)},
	{rule: "providers.package.signature", prepare: shaped(modtest.ProviderUnknownKey)},
	{rule: "providers.package.signature", prepare: shaped(modtest.ProviderWrongSignature)},
	{rule: "providers.package.signature", prepare: shaped(modtest.ProviderArmoredSignature)},
	{rule: "providers.package.signature", prepare: shaped(modtest.ProviderWeakKey)},
	{rule: "providers.package.sums", prepare: shaped(modtest.ProviderNotListed)},
	{rule: "providers.package.archive", prepare: shaped(modtest.ProviderChangedArchive)},
	{rule: "providers.package.platform", prepare: shaped(modtest.ProviderOtherPlatform)},
	{rule: "providers.package.filename", prepare: shaped(modtest.ProviderNoFilename)},
	{rule: "providers.package.unknown", at: "/0.0.0-.*/linux/amd64$", status: 500},
}

var tagMistakes = []mistake{
	{rule: "oci.challenge", at: "/tags/list$", status: 401},
	{rule: "oci.tags.status", at: tags, status: 500},
	{rule: "oci.tags.json", at: tags, old: `"tags"`, new: `"names"`},
	{rule: "oci.tags.json", at: tags, old: `"acme/net"`, new: `"net"`},
	{rule: "oci.tags.tag", at: tags, old: `"tags":[`, new: `"tags":["-1.2.0",`},
	{rule: "oci.tags.pages", at: tags, header: "Link: "},
	{rule: "oci.tags.unknown", at: "does-not-exist/tags/list$", status: 200},
}

var manifestMistakes = []mistake{
	{rule: "oci.manifest.status", at: tagged, status: 500},
	{rule: "oci.manifest.type", at: tagged, header: "Content-Type: application/vnd.docker.distribution.manifest.v2+json"},
	{rule: "oci.manifest.json", at: tagged, new: `{"schemaVersion":1}`},
	{rule: "oci.manifest.digest", at: tagged, header: "Docker-Content-Digest: sha256:0"},
	{rule: "oci.manifest.by-digest", at: tagged, old: `"schemaVersion":2`, new: `"schemaVersion": 2`},
	{rule: "oci.manifest.head", at: tagged, method: http.MethodHead, status: 405},
	{rule: "oci.manifest.unknown", at: "/manifests/.*does-not-exist$", status: 400},
	{rule: "oci.blob.unknown", at: "0000000000$", status: 200},
	{rule: "oci.module.artifact", at: tagged, old: "vnd.opentofu.modulepkg", new: "vnd.example"},
	{rule: "oci.module.layer", at: tagged, old: "archive/zip", new: "application/gzip"},
	{rule: "oci.provider.tag", at: "/mirror/cloud/tags/list$", new: `{"name":"mirror/cloud","tags":["latest"]}`, alias: [2]string{"/latest", "/1.0.0"}},
	{rule: "oci.module.artifact", prepare: pushed(modtest.OCIWrongArtifactType, oneFile)},
	{rule: "oci.module.artifact", prepare: pushed(modtest.OCINoArtifactType, oneFile)},
	{rule: "oci.module.layer", prepare: pushed(modtest.OCITwoZipLayers, oneFile)},
	{rule: "oci.module.layer", prepare: pushed(modtest.OCINoLayers, oneFile)},
	{rule: "oci.module.layer", prepare: pushed(modtest.OCINegativeSize, oneFile)},
	{rule: "oci.module.archive", prepare: pushed(modtest.OCIModule, fstest.MapFS{})},
	{rule: "oci.manifest.type", prepare: pushed(modtest.OCIWrongMediaType, oneFile)},
	{rule: "oci.blob.content", prepare: pushed(modtest.OCIDigestMismatch, oneFile)},
	{rule: "oci.blob.content", prepare: pushed(modtest.OCILongSize, oneFile)},
	{rule: "oci.blob.status", at: "/acme/net/blobs/sha256:[^0]", status: 500},
	{rule: "oci.provider.artifact", at: "/mirror/cloud/manifests/sha256", old: "provider-target", new: "provider-other"},
	{rule: "oci.provider.layer", at: "/mirror/cloud/manifests/sha256", old: "archive/zip", new: "application/zip"},
	{rule: "oci.provider.archive", noProgram: true},
	{rule: "oci.provider.index", at: "/mirror/cloud/manifests/1.0.0$", old: "vnd.opentofu.provider\"", new: "vnd.example\""},
}
