package hostile_test

import (
	"fmt"
	"iter"
	"strings"
)

type OCIManifest struct {
	// MediaType is the media type of the answer.
	MediaType string
	// Digest is the header Docker-Content-Digest. "" means the right digest, and "-" means no
	// header.
	Digest string
	Text   string
}

const (
	ociManifest = "application/vnd.oci.image.manifest.v1+json"
	ociIndex    = "application/vnd.oci.image.index.v1+json"
	ociModule   = "application/vnd.opentofu.modulepkg"
)

// OCIManifests yields manifests for a layer with a digest ("sha256:...") and a size. The layer is
// a good zip archive.
func OCIManifests(digest string, size int) iter.Seq[Case[OCIManifest]] {
	layer := func(mediaType, digest string, size any) string {
		return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%v}`, mediaType, digest, size)
	}
	right := layer("archive/zip", digest, size)
	manifest := func(mediaType, artifact, layers string) string {
		return fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"artifactType":%q,"config":{"mediaType":"application/vnd.oci.empty.v1+json","digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","size":2},"layers":[%s]}`, mediaType, artifact, layers)
	}
	of := func(layers string) string { return manifest(ociManifest, ociModule, layers) }
	good := of(right)
	classes := []struct {
		class string
		texts map[string]string
	}{
		{"oci/malformed", map[string]string{
			"nothing": "", "null": "null", "array": "[]", "text": "x", "cut": good[:len(good)/2], "more": good + "}", "deep": strings.Repeat("[", 400_000), "deep layers": `{"layers":` + strings.Repeat("[", 400_000),
			"BOM": "\ufeff" + good, "HTML": "<html>", "NUL": "\x00" + good, "5 MiB": good + strings.Repeat(" ", 5<<20), "layers no list": manifest(ociManifest, ociModule, "")[:60] + `}`,
		}},
		{"oci/artifact", map[string]string{
			"no type": manifest(ociManifest, "", right), "other type": manifest(ociManifest, "application/vnd.example", right), "escape in type": manifest(ociManifest, "a\x1b[2J", right), "type in other case": manifest(ociManifest, strings.ToUpper(ociModule), right),
			"index inside": manifest(ociIndex, ociModule, right), "no media type": manifest("", ociModule, right), "manifest and index": strings.Replace(good, `"layers"`, `"manifests":[],"layers"`, 1),
		}},
		{"oci/layers", map[string]string{
			"none": of(""), "null": of("null"), "two": of(right + "," + right), "other type": of(layer("application/zip", digest, size)), "gzip": of(layer("archive/tar+gzip", digest, size)), "number": of("1"), "string": of(`"x"`),
		}},
		{"oci/descriptor", map[string]string{
			"size 0": of(layer("archive/zip", digest, 0)), "size -1": of(layer("archive/zip", digest, -1)), "size 2^63-1": of(layer("archive/zip", digest, uint64(1<<63-1))), "size 2^64": of(layer("archive/zip", digest, "18446744073709551616")),
			"size + 1": of(layer("archive/zip", digest, size+1)), "size - 1": of(layer("archive/zip", digest, size-1)), "size 1.5": of(layer("archive/zip", digest, "1.5")), "size 1e3": of(layer("archive/zip", digest, "1e3")), "size text": of(layer("archive/zip", digest, `"1"`)),
			"upper case": of(layer("archive/zip", strings.ToUpper(digest), size)), "md5": of(layer("archive/zip", "md5:d41d8cd98f00b204e9800998ecf8427e", size)), "no algorithm": of(layer("archive/zip", digest[7:], size)), "short": of(layer("archive/zip", digest[:60], size)),
			"empty": of(layer("archive/zip", "", size)), "path": of(layer("archive/zip", "../../../etc/passwd", size)), "sha256:../x": of(layer("archive/zip", "sha256:../x", size)), "other": of(layer("archive/zip", "sha256:"+strings.Repeat("0", 64), size)),
			"escape": of(layer("archive/zip", "sha256:\x1b[2J", size)),
		}},
		{"oci/good", map[string]string{
			"plain": good, "spaces": good + strings.Repeat(" ", 1000), "other layers": of(layer("text/markdown", "sha256:"+strings.Repeat("1", 64), 5) + "," + right), "foreign URL": of(strings.Replace(right, "{", `{"urls":["file:///etc/passwd","http://169.254.169.254/"],`, 1)),
			"annotations": strings.Replace(good, `"layers"`, `"annotations":{"a":"\u001b[2J"},"layers"`, 1),
		}},
	}
	return func(yield func(Case[OCIManifest]) bool) {
		for _, c := range classes {
			for name, text := range c.texts {
				if !yield(Case[OCIManifest]{c.class, name, OCIManifest{MediaType: ociManifest, Text: text}}) {
					return
				}
			}
		}
		for _, mediaType := range []string{"", ociIndex, "application/vnd.docker.distribution.manifest.v2+json", "application/vnd.docker.distribution.manifest.list.v2+json", "application/json", "text/html", "a\tb"} {
			if !yield(Case[OCIManifest]{"oci/media type", label(mediaType), OCIManifest{MediaType: mediaType, Text: good}}) {
				return
			}
		}
		if !yield(Case[OCIManifest]{"oci/good", "media type in upper case", OCIManifest{MediaType: strings.ToUpper(ociManifest), Text: good}}) {
			return
		}
		for _, header := range []string{"sha256:" + strings.Repeat("0", 64), "md5:d41d8cd98f00b204e9800998ecf8427e", "x", "sha256:", digest, "sha512:" + strings.Repeat("0", 128)} {
			if !yield(Case[OCIManifest]{"oci/digest", label(header), OCIManifest{MediaType: ociManifest, Digest: header, Text: good}}) {
				return
			}
		}
	}
}
