package lockfile

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseSyntax joins the bodies of eachBody, so that tests can compare them with the HCL parser's.
func ParseSyntax(src []byte, filename string, size int) (*hclsyntax.Body, hcl.Diagnostics) {
	whole := &hclsyntax.Body{}
	diags := eachBody(src, filename, size, func(body *hclsyntax.Body, isWhole bool) {
		if isWhole {
			whole = body
		} else { // without attributes
			whole.Blocks = append(whole.Blocks, body.Blocks...)
		}
	})
	if diags.HasErrors() {
		return nil, diags
	}
	return whole, nil
}
