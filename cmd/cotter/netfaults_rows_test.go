package main

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"io"
	"strings"
)

// nowhere is an address at which no server listens.
const nowhere = "127.0.0.1:1"

// connectionFaults returns the faults that occur before the first request.
func connectionFaults(unknown, elsewhere, expired *tls.Certificate) []netFault {
	var rows []netFault
	for _, call := range []string{"registry", "git", "zip", "oci"} {
		refused, noHost := "HOST cannot be reached: connection refused", "HOST cannot be reached: there is no such host"
		if call == "git" { // git words it differently
			refused, noHost = "HOST cannot be reached: no connection to ", "HOST cannot be reached: there is no such host"
		}
		rows = append(rows,
			netFault{name: "connection refused", call: call, host: nowhere, says: []string{refused, "HOST"}},
			netFault{name: "no such host", call: call, host: "nowhere.invalid", says: []string{noHost, "HOST"}},
			netFault{name: "unknown authority", call: call, certificate: unknown, says: []string{"certificate"}},
		)
	}
	return append(rows,
		netFault{name: "certificate for another host", call: "registry", certificate: elsewhere, says: []string{"certificate", "127.0.0.1"}},
		netFault{name: "certificate for another host", call: "git", certificate: elsewhere, says: []string{"certificate"}},
		netFault{name: "certificate expired", call: "registry", certificate: expired, says: []string{"expired"}},
		netFault{name: "certificate expired", call: "zip", certificate: expired, says: []string{"expired"}},
		netFault{name: "reset at connect", call: "registry", connection: resetConnection, says: []string{"reset"}},
		netFault{name: "reset at connect", call: "zip", connection: resetConnection, says: []string{"reset"}},
		netFault{name: "reset at connect", call: "git", connection: resetConnection, says: []string{"HOST"}},
		netFault{name: "reset at connect once", call: "zip", connection: resetConnection, times: 1},
		netFault{name: "reset at connect once", call: "registry", connection: resetConnection, times: 1},
		netFault{name: "reset in the handshake", call: "registry", connection: resetHandshake, says: []string{"reset"}},
		netFault{name: "reset in the handshake", call: "oci", connection: resetHandshake, says: []string{"reset"}},
		netFault{name: "closed in the handshake", call: "zip", connection: closeHandshake, says: []string{"EOF"}},
	)
}

// registryFaults returns the faults of service discovery, versions and download locations.
func registryFaults() []netFault {
	const discovery, versions, location = "/.well-known/", "/versions", "/download"
	row := func(name, at string, answer answering, says ...string) netFault {
		return netFault{name: name, call: "registry", at: at, answer: answer, says: says}
	}
	once := func(name, at string, answer answering) netFault {
		return netFault{name: name, call: "registry", at: at, answer: answer, times: 1}
	}
	patient := row("versions 429 for long", versions, answers(429, "", "Retry-After: 3600"), "429", "1h0m0s")
	patient.asked = 1
	return []netFault{
		patient,
		row("discovery is garbage", discovery, jsonText(`{"modules.v1": `), "HOST", "JSON"),
		row("discovery is empty", discovery, jsonText(""), "HOST"),
		row("discovery is a web page", discovery, answers(200, "<html>log in</html>", "Content-Type: text/html"), "HOST", "text/html"),
		row("discovery has no modules", discovery, jsonText(`{"providers.v1": "/v1/providers/"}`), "HOST", "modules.v1"),
		row("discovery is huge", discovery, jsonText(strings.Repeat(" ", 2<<20)+"{}"), "HOST", "1048576"),
		row("discovery redirects for ever", discovery, redirects("https://HOSTPATH"), "redirect"),
		row("discovery redirects to http", discovery, redirects("http://HOSTPATH"), "redirect", "http:"),
		row("discovery redirects to a file", discovery, redirects("file:///etc/passwd"), "redirect", "file:"),
		row("discovery redirects to no host", discovery, redirects("https://nowhere.invalid/"), "nowhere.invalid cannot be reached: there is no such host"),
		row("services at no host", discovery, jsonText(`{"modules.v1": "https://nowhere.invalid/v1/"}`), "nowhere.invalid cannot be reached: there is no such host"),
		row("services at which nobody listens", discovery, jsonText(`{"modules.v1": "https://127.0.0.1:1/v1/"}`), "refused", nowhere),
		row("discovery 404", discovery, answers(404, "no"), "HOST"),
		row("discovery 503", discovery, answers(503, "no", "Retry-After: 0"), "503"),
		once("discovery 503 once", discovery, answers(503, "no", "Retry-After: 0")),
		row("versions garbage", versions, jsonText("[["), "JSON"),
		row("versions empty", versions, jsonText(""), "/versions"),
		row("versions null", versions, jsonText("null"), "/versions"),
		row("versions of nothing", versions, jsonText(`{"modules":[]}`), "/versions"),
		row("versions on a web page", versions, answers(200, "<html>log in</html>", "Content-Type: text/html"), "JSON"),
		row("versions huge", versions, claims(1<<40), "larger than the limit"),
		row("versions too short", versions, announces(100), "unexpected EOF"),
		row("versions reset after the headers", versions, resetsAfter(0), "reset"),
		row("versions reset in the body", versions, resetsAfter(50), "reset"),
		once("versions reset once", versions, resetsAfter(50)),
		row("versions 401", versions, answers(401, ""), "401", "credentials"),
		row("versions 403", versions, answers(403, ""), "403"),
		row("versions 404", versions, answers(404, ""), "404 Not Found"),
		row("versions 410", versions, answers(410, ""), "410"),
		once("versions 429 for a moment", versions, answers(429, "", "Retry-After: 1")),
		row("versions 500", versions, answers(500, ""), "500"),
		once("versions 502 once", versions, answers(502, "")),
		row("location missing", location, answers(204, ""), "location"),
		row("location garbage", location, jsonText("{"), "location"),
		row("location is a file", location, answers(204, "", "X-Terraform-Get: file:///etc"), "file:"),
		row("location is plain git", location, answers(204, "", "X-Terraform-Get: git::file:///etc"), "file:"),
		row("location is the metadata service", location,
			answers(204, "", "X-Terraform-Get: https://169.254.169.254/latest/meta-data/m.zip"), "169.254.169.254", "refused"),
		row("location at which nobody listens", location, answers(204, "", "X-Terraform-Get: https://"+nowhere+"/m.zip"), "refused", nowhere),
		row("location at no host", location, answers(204, "", "X-Terraform-Get: https://nowhere.invalid/m.zip"), "nowhere.invalid cannot be reached: there is no such host"),
		row("location in a repository at no host", location,
			answers(204, "", "X-Terraform-Get: git::https://nowhere.invalid/m.git?ref=v1.0.0"), "nowhere.invalid cannot be reached: there is no such host"),
		row("location 500", location, answers(500, ""), "500", "/download"),
	}
}

func archiveFaults() []netFault {
	const archives = "/archives/"
	row := func(call, name string, answer answering, says ...string) netFault {
		return netFault{name: name, call: call, at: archives, answer: answer, says: says}
	}
	once := func(name string, answer answering) netFault {
		return netFault{name: name, call: "zip", at: archives, answer: answer, times: 1}
	}
	patient := row("zip", "429 for long", answers(429, "", "Retry-After: 3600"), "429", "1h0m0s")
	patient.asked = 1
	return []netFault{
		patient,
		row("zip", "reset in the body", resetsAfter(50), "reset"),
		once("reset in the body once", resetsAfter(50)),
		row("zip", "reset after the headers", resetsAfter(0), "reset"),
		row("zip", "announced too long", announces(100), "EOF"),
		row("zip", "announced too short", announces(-20), "archive"),
		row("tar", "announced too short", announces(-20), "archive"),
		row("zip", "truncated", cut(60), "archive"),
		row("tar", "truncated", cut(60), "archive"),
		row("tar", "truncated before it was compressed", altered(truncatedTar), "archive"),
		row("tar", "not compressed", altered(func([]byte) []byte { return []byte("hello, this is no archive at all") }), "archive"),
		row("zip", "empty", altered(func([]byte) []byte { return nil }), "archive"),
		row("zip", "a web page", answers(200, "<html>log in</html>", "Content-Type: text/html"), "archive"),
		row("zip", "huge", claims(600<<20), "too large"),
		row("zip", "redirects for ever", redirects("https://HOSTPATH"), "redirect"),
		row("zip", "redirect to no host", redirects("https://nowhere.invalid/"), "nowhere.invalid cannot be reached: there is no such host"),
		row("zip", "redirect to http", redirects("http://HOSTPATH"), "redirects from https to http"),
		row("zip", "redirect to a file", redirects("file:///etc/passwd"), "redirect", "file:"),
		row("zip", "redirect to the metadata service", redirects("https://169.254.169.254/latest/m.zip"), "169.254.169.254", "redirect"),
		row("zip", "401", answers(401, ""), "401", "credentials"),
		row("zip", "403", answers(403, ""), "403"),
		row("zip", "404", answers(404, ""), "404"),
		row("zip", "410", answers(410, ""), "410"),
		once("429 for a moment", answers(429, "", "Retry-After: 1")),
		row("zip", "503", answers(503, "", "Retry-After: 0"), "503"),
		once("500 once", answers(500, "")),
	}
}

// truncatedTar returns a .tar.gz archive with a complete gzip stream whose tar ends too
// early.
func truncatedTar(archive []byte) []byte {
	var out bytes.Buffer
	in, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		panic(err)
	}
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text[:516]) // a header and a part of its file
	_ = w.Close()              // a write to a buffer does not fail
	return out.Bytes()
}

func gitFaults() []netFault {
	const refs, pack = "/git/", "/git-upload-pack" // refs matches every request
	row := func(name, at string, answer answering, says ...string) netFault {
		return netFault{name: name, call: "git", at: at, answer: answer, says: append(says, "HOST/git/tools.git")}
	}
	patient := row("429 for long", refs, answers(429, "", "Retry-After: 3600"), "429", "1h0m0s")
	patient.asked = 1
	return []netFault{
		patient,
		row("401", refs, answers(401, "", "WWW-Authenticate: Basic"), "HOST requires credentials, and git has none that it accepts"),
		row("403", refs, answers(403, ""), "403"),
		row("404", refs, answers(404, ""), "there is no repository https://HOST/git/tools.git"),
		row("410", refs, answers(410, ""), "410"),
		row("500", refs, answers(500, ""), "500"),
		{name: "503 once", call: "git", at: refs, answer: answers(503, ""), times: 1},
		row("a web page", refs, answers(200, "<html>log in</html>", "Content-Type: text/html"), "page"),
		row("redirect to http", refs, redirects("http://HOSTPATH"), "redirect"),
		row("redirects for ever", refs, redirects("https://HOSTPATH"), "redirect"),
		row("reset in the refs", refs, resetsAfter(50)),
		row("packs 500", pack, answers(500, ""), "500"),
		{name: "packs 503 once", call: "git", at: pack, answer: answers(503, ""), times: 1},
		row("packs reset", pack, resetsAfter(50)),
		row("packs truncated", pack, cut(60)),
		row("packs garbage", pack, answers(200, "hello", "Content-Type: application/x-git-upload-pack-result")),
	}
}

func ociFaults() []netFault {
	const token, manifest, blob = "/oci/token", "/manifests/", "/blobs/"
	row := func(name, at string, answer answering, says ...string) netFault {
		return netFault{name: name, call: "oci", at: at, answer: answer, says: says}
	}
	patient := row("manifest 429 for long", manifest, answers(429, "", "Retry-After: 3600"), "429", "1h0m0s")
	patient.asked = 1
	return []netFault{
		patient,
		row("token at no host", manifest, answers(401, "", `WWW-Authenticate: Bearer realm="https://nowhere.invalid/",service="x"`), "nowhere.invalid cannot be reached: there is no such host"),
		row("token 401", token, answers(401, ""), "401"),
		row("token 500", token, answers(500, ""), "500"),
		row("token garbage", token, jsonText("{"), "token"),
		row("token empty", token, jsonText("{}"), "token"),
		row("manifest 404", manifest, answers(404, ""), "1.0.0", "404 Not Found"),
		row("manifest 503", manifest, answers(503, "", "Retry-After: 0"), "503"),
		{name: "manifest 503 once", call: "oci", at: manifest, answer: answers(503, "", "Retry-After: 0"), times: 1},
		row("manifest garbage", manifest, altered(func([]byte) []byte { return []byte("{") }), "digest"),
		row("manifest of another type", manifest, typed("text/html"), "text/html"),
		row("manifest huge", manifest, claims(8<<20), "manifest"),
		row("blob 404", blob, answers(404, ""), "404 Not Found"),
		row("blob truncated", blob, cut(60), "HOST/db"),
		row("blob reset", blob, resetsAfter(50), "reset"),
		{name: "blob reset once", call: "oci", at: blob, answer: resetsAfter(50), times: 1},
		row("blob altered", blob, altered(func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), "digest"),
		row("blob redirects to http", blob, redirects("http://HOSTPATH"), "redirect"),
		row("blob redirects to the metadata service", blob, redirects("https://169.254.169.254/blob"), "169.254.169.254"),
	}
}
