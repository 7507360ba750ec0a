package configread

import (
	"context"
	"path"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cotterpin/cotter/addrs"
	"github.com/cotterpin/cotter/internal/configuration/hcldepth"
)

var (
	providersSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "terraform"},
		{Type: "provider", LabelNames: []string{"name"}},
		{Type: "resource", LabelNames: []string{"type", "name"}},
		{Type: "data", LabelNames: []string{"type", "name"}},
		{Type: "ephemeral", LabelNames: []string{"type", "name"}},
		{Type: "action", LabelNames: []string{"type", "name"}}, // only in Terraform
		{Type: "check", LabelNames: []string{"name"}},
		{Type: "import"},
	}}
	checkSchema         = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "data", LabelNames: []string{"type", "name"}}}}
	requiredSchema      = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "required_providers"}}}
	providerSchema      = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "alias"}, {Name: "version"}}}
	resourceSchema      = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "provider"}}}
	importSchema        = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "to"}, {Name: "provider"}}}
	testProvidersSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "provider", LabelNames: []string{"name"}}}}
	resourceKinds       = map[string]bool{"resource": true, "data": true, "ephemeral": true, "action": true}
	providerKinds       = map[string]bool{"terraform": true, "provider": true, "check": true, "import": true}
	wordsAboutProviders = [][]byte{terraformWord, []byte("provider"), []byte("resource"), []byte("data"), []byte("ephemeral"), []byte("action"), []byte("check"), []byte("import")}
	providerWord        = []byte("provider")
	terraformWord       = []byte("terraform")
)

// addFile parses only the blocks of a file that concern providers.
func (r *requirements) addFile(ctx context.Context, src []byte, f file, display string) {
	if f.json {
		for _, word := range wordsAboutProviders {
			if mayHold(src, true, word) {
				r.addParsed(ctx, src, f, display, hcl.InitialPos)
				return
			}
		}
		return
	}
	blocks, ok := scanBlocks(src, display)
	if !ok {
		r.addParsed(ctx, src, f, display, hcl.InitialPos)
		return
	}
	for _, b := range blocks {
		switch {
		case resourceKinds[b.kind] && !b.maySetProvider && len(b.labels) == 2:
			r.addResource(&resource{kind: b.kind, typ: b.labels[0], name: b.labels[1], at: b.header}, f.override)
		case resourceKinds[b.kind] || providerKinds[b.kind]:
			r.addParsed(ctx, b.text(src), f, display, b.header.Start)
		}
	}
}

func (r *requirements) addParsed(ctx context.Context, src []byte, f file, display string, start hcl.Pos) {
	body, diags := parse(ctx, src, display, f.json, start)
	r.diags = append(r.diags, limitSyntaxErrors(diags, display)...)
	if body != nil {
		r.addBody(ctx, body, f.override)
	}
}

func (r *requirements) addBody(ctx context.Context, body hcl.Body, override bool) {
	content, _, diags := body.PartialContent(providersSchema)
	r.diags = append(r.diags, diags...)
	for _, b := range content.Blocks {
		switch b.Type {
		case "terraform":
			inner, _, _ := b.Body.PartialContent(requiredSchema)
			for _, required := range inner.Blocks {
				r.addRequired(required, override)
			}
		case "provider":
			r.addConfig(b, override)
		case "check":
			inner, _, _ := b.Body.PartialContent(checkSchema)
			for _, data := range inner.Blocks {
				r.addResourceBlock(ctx, data, override)
			}
		case "import":
			r.addImport(ctx, b)
		default:
			r.addResourceBlock(ctx, b, override)
		}
	}
}

// addConfig adds a provider block. One in an override file only sets the version of another one.
func (r *requirements) addConfig(b *hcl.Block, override bool) {
	config, ok := r.config(b)
	if !ok {
		return
	}
	if override {
		for _, declared := range r.configs {
			if declared.name == config.name && declared.alias == config.alias {
				if config.version.at != (hcl.Range{}) {
					declared.version = config.version
				}
				return
			}
		}
	}
	r.configs = append(r.configs, config)
}

func (r *requirements) config(b *hcl.Block) (*providerConfig, bool) {
	content, _, _ := b.Body.PartialContent(providerSchema)
	config := &providerConfig{name: b.Labels[0], at: b.DefRange}
	config.alias, _ = literalText(content.Attributes["alias"])
	if attr := content.Attributes["version"]; attr != nil {
		text, ok := literalText(attr)
		if !ok {
			r.fail(attr.Expr.Range(), "Invalid version constraint", "The version of provider %q must be a literal string.", config.name)
		} else {
			config.version = constraint{text, attr.Expr.Range()}
		}
	}
	return config, r.checkName(config.name, b.LabelRanges[0])
}

// checkName reports a local name that is not valid.
func (r *requirements) checkName(name string, at hcl.Range) bool {
	if parsed, err := addrs.ParseProviderPart(name); err == nil && parsed == name {
		return true
	}
	r.fail(at, "Invalid provider name", "%.300q cannot be a provider's name, which has lower-case letters, digits and dashes only.", name)
	return false
}

func (r *requirements) addResourceBlock(ctx context.Context, b *hcl.Block, override bool) {
	found := &resource{kind: b.Type, typ: b.Labels[0], name: b.Labels[1], at: b.DefRange}
	content, _, _ := b.Body.PartialContent(resourceSchema)
	if attr := content.Attributes["provider"]; attr != nil {
		var ok bool
		if found.provider, ok = r.providerReference(ctx, attr); !ok {
			return
		}
	}
	r.addResource(found, override)
}

// addResource adds a resource. One in an override file only sets the provider of another one.
func (r *requirements) addResource(found *resource, override bool) {
	switch {
	case found.kind == "action" && !r.Terraform:
	case !override:
		r.resources = append(r.resources, found)
	case found.provider != "":
		if r.byKey == nil {
			r.byKey = map[string]*resource{}
			for _, declared := range r.resources {
				r.byKey[declared.key()] = declared
			}
		}
		if declared, ok := r.byKey[found.key()]; ok {
			declared.provider = found.provider
		}
	}
}

func (r *requirements) providerReference(ctx context.Context, attr *hcl.Attribute) (string, bool) {
	name, hasIndex, ok := r.readReference(ctx, attr.Expr)
	switch {
	case !ok:
		r.fail(attr.Expr.Range(), "Invalid provider reference", "The provider argument must be a provider's name, or a name and an alias such as aws.west.")
		return "", false
	case hasIndex && r.Terraform:
		r.fail(attr.Expr.Range(), "Invalid provider reference", "The provider argument has an instance key, which only OpenTofu supports.")
		return "", false
	}
	return name, r.checkName(name, attr.Expr.Range())
}

// readReference reads NAME, NAME.ALIAS or NAME.ALIAS[KEY].
func (r *requirements) readReference(ctx context.Context, expr hcl.Expression) (name string, hasIndex, ok bool) {
	if !r.Terraform {
		expr = nativeReference(ctx, expr)
	}
	if index, isIndex := expr.(*hclsyntax.IndexExpr); isIndex { // the key is not a literal
		expr, hasIndex = index.Collection, true
	}
	if _, isNative := expr.(hclsyntax.Expression); isNative && !hasIndex {
		expr = unquoted(ctx, expr) // the form of early versions
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		return "", false, false
	}
	if _, isIndex := traversal[len(traversal)-1].(hcl.TraverseIndex); isIndex && !hasIndex {
		traversal, hasIndex = traversal[:len(traversal)-1], true
	}
	names := stepNames(traversal)
	if len(names) != len(traversal) || len(names) > 2 || hasIndex && len(names) != 2 {
		return "", false, false
	}
	return names[0], hasIndex, true
}

// nativeReference returns the expression in a string of JSON, which has no other way to write a
// reference, or expr.
func nativeReference(ctx context.Context, expr hcl.Expression) hcl.Expression {
	if _, isNative := expr.(hclsyntax.Expression); isNative {
		return expr
	}
	return unquoted(ctx, expr)
}

// unquoted returns the expression in a literal string, or expr: a string with syntax errors is no
// reference either.
func unquoted(ctx context.Context, expr hcl.Expression) hcl.Expression {
	text, ok := stringOf(expr)
	if !ok {
		return expr
	}
	parsed, diags := hcldepth.ParseExpression(ctx, []byte(text), expr.Range().Filename, expr.Range().Start)
	if diags.HasErrors() {
		return expr
	}
	return parsed
}

// addImport adds the provider of an import block.
func (r *requirements) addImport(ctx context.Context, b *hcl.Block) {
	content, _, _ := b.Body.PartialContent(importSchema)
	to := content.Attributes["to"]
	if to == nil {
		return
	}
	names := attributeNames(nativeReference(ctx, to.Expr))
	inModule := len(names) > 2 && names[0] == "module"
	for len(names) > 2 && names[0] == "module" {
		names = names[2:]
	}
	if len(names) == 3 && names[0] == "data" && !r.Terraform {
		names = names[1:]
	}
	// Terraform ignores resources of other modules here: those modules require the provider.
	if len(names) != 2 || inModule && r.Terraform {
		return
	}
	block := importBlock{target: names[0] + "." + names[1]}
	block.use = providerUse{by: "import " + block.target, at: b.DefRange}
	if attr := content.Attributes["provider"]; attr != nil {
		block.use.name, _ = r.providerReference(ctx, attr)
	} else {
		block.use.name = r.nameOfType(names[0], to.Expr.Range())
	}
	if block.use.name != "" {
		r.imports = append(r.imports, block)
	}
}

// addTest adds the provider blocks of a test file. Terraform uses only those that the module declares as
// well, and these are required anyway.
func (r *requirements) addTest(body hcl.Body, name string) {
	if r.Terraform {
		return
	}
	content, _, _ := body.PartialContent(testProvidersSchema)
	for _, b := range content.Blocks {
		if config, ok := r.config(b); ok {
			config.test = path.Clean(name)
			r.tests = append(r.tests, config)
		}
	}
}

// attributeNames returns the names in a reference such as module.a["x"].aws_b.c, without the indexes, or
// nil.
func attributeNames(expr hcl.Expression) []string {
	switch expr := expr.(type) {
	case *hclsyntax.IndexExpr:
		return attributeNames(expr.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		if names := attributeNames(expr.Source); names != nil {
			return append(names, stepNames(expr.Traversal)...)
		}
		return nil
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		return nil
	}
	return stepNames(traversal)
}

func stepNames(traversal hcl.Traversal) []string {
	var names []string
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			names = append(names, step.Name)
		case hcl.TraverseAttr:
			names = append(names, step.Name)
		}
	}
	return names
}
