package conformance

import (
	"iter"
	"slices"
	"strings"
)

// Rule is a rule of a protocol.
type Rule struct {
	// ID is "discovery", "modules", "providers" or "oci", the subject, and the rule.
	ID string `json:"id"`
	// Section is the title of the specification and of its section.
	Section string `json:"section"`
	Text    string `json:"text"`
}

// Rules returns all rules, by protocol.
func Rules() iter.Seq[Rule] { return slices.Values(rules) }

func ruleOf(id string) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

const (
	discoveryProcess  = "Remote Service Discovery, Discovery Process"
	discoveryResponse = "Remote Service Discovery, Service Identifiers"
	moduleVersions    = "Module Registry Protocol, List Available Versions for a Specific Module"
	moduleDownload    = "Module Registry Protocol, Download Source Code for a Specific Module Version"
	providerVersions  = "Provider Registry Protocol, List Available Versions"
	providerPackage   = "Provider Registry Protocol, Find a Provider Package"
	ociTags           = "OCI Distribution Specification, Listing Tags"
	ociManifests      = "OCI Distribution Specification, Pulling manifests"
	ociBlobs          = "OCI Distribution Specification, Pulling blobs"
	ociExists         = "OCI Distribution Specification, Checking if content exists in the registry"
	ociAuth           = "OCI Distribution Specification, Endpoints, and RFC 9110, section 11.6.1"
	ociModules        = "OpenTofu, Module Packages in OCI Registries"
	ociProviders      = "OpenTofu, Provider Mirrors in OCI Registries"
)

var rules = slices.Concat(
	section(discoveryProcess,
		"discovery.answer", "the host answers https://HOST/.well-known/terraform.json with status 200, after redirects if it likes",
		"discovery.https", "redirects lead to HTTPS addresses",
		"discovery.type", "the answer has the content type application/json",
		"discovery.json", "the answer is a JSON object of at most 1 MiB",
	),
	section(discoveryResponse,
		"discovery.service", "the document names the service that is asked for",
		"discovery.url", "the service is the URL of its API, absolute or relative to the document, by HTTPS and without a query or fragment",
		"discovery.slash", "the URL of the service ends with a slash, so that paths can be appended",
	),
	section(moduleVersions,
		"modules.versions.status", "the list of versions has status 200",
		"modules.versions.type", "the list has the content type application/json",
		"modules.versions.json", "the list is a JSON object of at most 16 MiB",
		"modules.versions.module", `"modules" is an array whose first element is the module that was asked for, with an array "versions"`,
		"modules.versions.version", "each version is a semantic version without a prefix",
		"modules.versions.unique", "each version is listed once",
		"modules.versions.unknown", "a module that does not exist has status 404",
		"modules.versions.stable", "the same request has the same answer",
	),
	section(moduleDownload,
		"modules.download.status", "the answer has status 204, or 200 with a document",
		"modules.download.address", `the header X-Terraform-Get, or "location" in the document, has an address`,
		"modules.download.valid", "the address is one that a module call may have, or is relative to the request",
		"modules.download.version", "the address of a version does not change from request to request",
		"modules.download.fetch", "an archive at an HTTPS address can be fetched",
		"modules.download.unknown", "a version that does not exist has status 404",
	),
	section(providerVersions,
		"providers.versions.status", "the list of versions has status 200",
		"providers.versions.type", "the list has the content type application/json",
		"providers.versions.json", `the list is a JSON object with an array "versions"`,
		"providers.versions.version", "each version is a semantic version without a prefix",
		"providers.versions.unique", "each version is listed once",
		"providers.versions.protocols", `"protocols" lists versions of the plugin protocol as MAJOR.MINOR`,
		"providers.versions.platforms", `"platforms" lists operating systems and architectures, each pair once`,
		"providers.versions.unknown", "a provider that does not exist has status 404",
	),
	section(providerPackage,
		"providers.package.status", "the package of a listed version and platform has status 200",
		"providers.package.type", "the answer has the content type application/json",
		"providers.package.json", "the answer is a JSON object",
		"providers.package.platform", `"os" and "arch" are those of the request`,
		"providers.package.protocols", `"protocols" is the same as in the list of versions`,
		"providers.package.filename", `"filename" is terraform-provider-TYPE_VERSION_OS_ARCH.zip`,
		"providers.package.shasum", `"shasum" is a SHA-256 sum with 64 lower-case hexadecimal digits`,
		"providers.package.urls", `"download_url", "shasums_url" and "shasums_signature_url" are URLs, absolute or relative to the request`,
		"providers.package.keys", `"signing_keys" has at least one OpenPGP key in "gpg_public_keys"`,
		"providers.package.sums", "the document of sums lists the file with the sum of the package",
		"providers.package.signature", "the document of sums has a binary detached signature by one of the keys",
		"providers.package.archive", "the archive has the sum of the package",
		"providers.package.program", "the archive is a zip file with a program terraform-provider-TYPE",
		"providers.package.unknown", "a version that does not exist has status 404",
	),
	section(ociAuth,
		"oci.challenge", "status 401 comes with the header WWW-Authenticate, which asks for Basic or Bearer authentication",
	),
	section(ociTags,
		"oci.tags.status", "the list of tags has status 200",
		"oci.tags.json", `the list is a JSON object with "name", the repository's, and an array "tags"`,
		"oci.tags.tag", "tags have at most 128 characters: letters, digits, '_', '.' and '-', the first one neither '.' nor '-'",
		"oci.tags.pages", "a list that is limited by \"n\" has at most so many tags; the header Link points to the rest",
		"oci.tags.unknown", "a repository that does not exist has status 404",
	),
	section(ociManifests,
		"oci.manifest.status", "a listed tag has a manifest",
		"oci.manifest.type", "the content type is the media type in the manifest",
		"oci.manifest.json", "the manifest is a JSON object of at most 4 MiB, with schemaVersion 2",
		"oci.manifest.digest", "the header Docker-Content-Digest is the digest of the manifest",
		"oci.manifest.by-digest", "the manifest can be requested by its digest, with the same bytes",
		"oci.manifest.unknown", "a tag that does not exist has status 404",
	),
	section(ociExists,
		"oci.manifest.head", "a HEAD request has the status, length and digest of the GET request",
	),
	section(ociBlobs,
		"oci.blob.status", "a blob of a manifest has status 200",
		"oci.blob.content", "a blob has the size and the digest of its descriptor",
		"oci.blob.unknown", "a blob that does not exist has status 404",
	),
	section(ociModules,
		"oci.module.artifact", "the artifact type of a module package is application/vnd.opentofu.modulepkg",
		"oci.module.layer", "the manifest of a module package has exactly one layer of the type archive/zip",
		"oci.module.archive", "the layer is a zip file with at least one file",
	),
	section(ociProviders,
		"oci.provider.tag", "the tag of a provider's version is the version, with '_' instead of '+'",
		"oci.provider.index", "the tag points to an index of the artifact type application/vnd.opentofu.provider, with a platform for each manifest",
		"oci.provider.artifact", "the artifact type of a platform's manifest is application/vnd.opentofu.provider-target",
		"oci.provider.layer", "the manifest of a platform has exactly one layer of the type archive/zip",
		"oci.provider.archive", "the layer is a zip file with a program terraform-provider-TYPE",
	),
)

func section(title string, idsAndTexts ...string) []Rule {
	var list []Rule
	for pair := range slices.Chunk(idsAndTexts, 2) {
		list = append(list, Rule{ID: pair[0], Section: title, Text: strings.TrimSpace(pair[1])})
	}
	return list
}
