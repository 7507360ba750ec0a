package getmodules

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// metaLocation finds <meta name="terraform-get" content="..."> in the head of a
// page; "" if there is none. Elements behind the head do not count, because
// others than the page's owner may have written there.
func metaLocation(page []byte) string {
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := tokens.Token()
			if token.Data == "body" || token.Data == "head" && kind == html.EndTagToken {
				return ""
			}
			if token.Data == "meta" && attribute(token, "name") == "terraform-get" {
				return strings.TrimSpace(attribute(token, "content"))
			}
		}
	}
}

func attribute(token html.Token, name string) string {
	for _, attr := range token.Attr {
		if attr.Key == name {
			return attr.Val
		}
	}
	return ""
}
