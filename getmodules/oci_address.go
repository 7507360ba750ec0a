package getmodules

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"oras.land/oras-go/v2/registry"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/net/oci"
)

const defaultOCITag = "latest"

type ociAddress struct {
	host       string // in lower case, with the port if there is one
	repository string
	// Exactly one of these is set.
	tag, digest string
}

func badOCI(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrOCIAddress, fmt.Errorf(format, args...))
}

// parseOCIAddress parses oci://host[:port]/repository?tag=TAG, or ?digest=DIGEST.
func parseOCIAddress(pkg addrs.ModulePackage) (*ociAddress, error) {
	at, err := pkg.Location()
	u := at.URL()
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "oci":
		return nil, badOCI("write oci://host/repository, without a second scheme")
	case u.User != nil:
		return nil, badOCI("it must not contain credentials; set them for the registry, as for docker login")
	case u.Host == "" || u.Opaque != "":
		return nil, badOCI("it has no host")
	case u.Fragment != "":
		return nil, badOCI("it must not have a part after #")
	}
	a := &ociAddress{host: strings.ToLower(u.Host), repository: strings.TrimPrefix(u.Path, "/")}
	if err := a.checkRepository(u); err != nil {
		return nil, err
	}
	return a, a.readArguments(u.RawQuery)
}

// checkRepository has specific messages for the most common mistakes.
func (a *ociAddress) checkRepository(u *url.URL) error {
	ref := registry.Reference{Registry: a.host, Repository: a.repository}
	switch {
	case a.repository == "":
		return badOCI("it has no repository after the host")
	case strings.Contains(a.repository, "@"):
		return badOCI("a digest is written ?digest=sha256:..., not @sha256:...")
	case strings.Contains(a.repository, ":"):
		return badOCI("a tag is written ?tag=NAME, not :NAME")
	case strings.ToLower(a.repository) != a.repository:
		return badOCI("the repository %q must be in lower case", a.repository)
	case u.RawPath != "" || ref.ValidateRepository() != nil:
		return badOCI("%q is not the name of a repository", u.EscapedPath())
	case ref.ValidateRegistry() != nil:
		return badOCI("%q is not a host", a.host)
	}
	return nil
}

func (a *ociAddress) readArguments(query string) error {
	arguments, err := url.ParseQuery(query)
	if err != nil {
		return badOCI("its arguments are malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if err := checkOCIArgument(name, arguments[name]); err != nil {
			return err
		}
	}
	a.tag, a.digest = arguments.Get("tag"), arguments.Get("digest")
	ref := registry.Reference{Reference: a.tag}
	switch {
	case a.tag != "" && a.digest != "":
		return badOCI("the arguments tag and digest exclude each other")
	case a.digest != "" && !oci.IsDigest(a.digest):
		return badOCI("%q is not a digest; there are sha256: and sha512:, with lower-case digits", a.digest)
	case a.tag != "" && ref.ValidateReferenceAsTag() != nil:
		return badOCI("%q is not the name of a tag", a.tag)
	case a.tag == "" && a.digest == "":
		a.tag = defaultOCITag
	}
	return nil
}

func checkOCIArgument(name string, values []string) error {
	switch name {
	case "archive":
		return badOCI("the argument archive is not for oci: the artifact has a type")
	case "checksum":
		return badOCI("the argument checksum is not for oci: use digest=sha256:... to pin the artifact")
	case "tag", "digest":
	default:
		return badOCI("there is no argument %q; use tag or digest", name)
	}
	switch {
	case len(values) > 1:
		return badOCI("the argument %s occurs %d times", name, len(values))
	case values[0] == "":
		return badOCI("the argument %s is empty", name)
	}
	return nil
}

var errOCIRevision = errors.New("the address and the pinned revision name different digests")

// pin replaces the tag with a digest.
func (a *ociAddress) pin(revision string) error {
	switch {
	case revision == "":
		return nil
	case !oci.IsDigest(revision):
		return badOCI("the pinned revision %q is not a digest", revision)
	case a.digest != "" && a.digest != revision:
		return fmt.Errorf("%w: %s and %s", errOCIRevision, a.digest, revision)
	}
	a.tag, a.digest = "", revision
	return nil
}

func (a *ociAddress) reference() string {
	if a.digest != "" {
		return a.digest
	}
	return a.tag
}

func (a *ociAddress) resolved(digest string) addrs.ModulePackage {
	return addrs.ParseModulePackage("oci://" + a.host + "/" + a.repository + "?digest=" + digest)
}
