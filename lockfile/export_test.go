package lockfile

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseSyntax joins the bodies of eachBody, so that tests can compare them with the HCL parser's.
func ParseSyntax(src []byte, filename string, size int) (*hclsyntax.Body, hcl.Diagnostics) {
	var whole *hclsyntax.Body
	diags := eachBody(src, filename, size, func() func(*hclsyntax.Body) {
		whole = &hclsyntax.Body{Attributes: hclsyntax.Attributes{}}
		return func(body *hclsyntax.Body) {
			whole.Blocks = append(whole.Blocks, body.Blocks...)
			for name, attribute := range body.Attributes {
				whole.Attributes[name] = attribute
			}
		}
	})
	if diags.HasErrors() {
		return nil, diags
	}
	return whole, nil
}
