package registryclient_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/cotterpin/cotter/internal/net/httpx/webtest"
	"github.com/cotterpin/cotter/registryclient"
	"github.com/cotterpin/cotter/versions"
)

// TestVersionsAsListed asks registries that have a version only in the form in which they list it.
func TestVersionsAsListed(t *testing.T) {
	t.Parallel()
	for listed, usual := range map[string]string{"v1.2.0": "1.2.0", "20.02.10": "20.2.10", "1.2": "1.2.0"} {
		for _, has := range []bool{true, false} {
			web := webtest.New(t)
			web.Serve(origin, func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasSuffix(r.URL.Path, "/net/aws/versions"):
					text(`{"modules":[{"versions":[{"version":"`+listed+`"}]}]}`)(w, r)
				case strings.HasSuffix(r.URL.Path, "/versions"):
					text(`{"versions":[{"version":"`+listed+`"}]}`)(w, r)
				case has && strings.HasSuffix(r.URL.Path, "/"+listed+"/download"):
					text(at("https://example.com/x.zip"))(w, r)
				case has && strings.HasSuffix(r.URL.Path, "/"+listed+"/download/linux/amd64"):
					text("{}")(w, r) // is found, and has no package
				default:
					http.NotFound(w, r)
				}
			})
			v := versions.MustParse(usual)
			module := pkg
			module.Name, module.TargetSystem = "net", "aws"
			found, err := client(web).PackageLocation(t.Context(), module, v)
			if has && (err != nil || found.Source.Package.String() != "https://example.com/x.zip") {
				t.Errorf("%s: PackageLocation = %+v, %v", listed, found, err)
			}
			if !has && (!errors.Is(err, registryclient.ErrNotFound) || !strings.Contains(err.Error(), `it lists it as "`+listed+`"`)) {
				t.Errorf("%s: PackageLocation = %v, want ErrNotFound with the listed form", listed, err)
			}
			if strings.HasPrefix(listed, "v") {
				continue // is no version of a provider, for stock tools either
			}
			_, err = client(web).ProviderPackage(t.Context(), cloud, v, linux)
			if has != errors.Is(err, registryclient.ErrInvalidAnswer) || !has && !errors.Is(err, registryclient.ErrUnsupportedPlatform) {
				t.Errorf("%s: ProviderPackage = %v", listed, err)
			}
		}
	}
}
