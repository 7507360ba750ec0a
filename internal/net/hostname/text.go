package hostname

import (
	"net/url"
	"strings"
)

// URLIn returns the URL that a text from an error is: a URL, or the address of a package, such as
// "git::https://HOST/x.git". It has no host for another text, such as a path.
func URLIn(text string) *url.URL {
	if getter, address, ok := strings.Cut(text, "::"); ok && !strings.Contains(getter, "/") { // not in the IPv6 address of a host
		text = address
	}
	u, err := url.Parse(text)
	if err != nil {
		return new(url.URL)
	}
	return u
}
