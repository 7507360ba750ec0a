package policy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cotterpin/cotter/internal/hcldepth"
)

// MaxSize is the maximum size of policy files, in bytes.
const MaxSize = 1 << 20

// MaxAgeDays is the maximum value of min_age_days: about a hundred years.
const MaxAgeDays = 36_500

// Parse parses a policy file; the package comment describes the format. The name is used
// only in messages. A file without a policy block results in a policy that allows
// everything, and is not [Policy.Declared]. If the diagnostics contain errors, the policy
// is nil.
func Parse(src []byte, filename string) (*Policy, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, failure(hcl.Range{Filename: filename}, fmt.Sprintf("The file has more than %d bytes.", MaxSize))
	}
	file, diags := hcldepth.ParseConfig(context.Background(), src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	content, diags := file.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "policy"}, {Type: "settings"}, {Type: "mirror", LabelNames: []string{"address"}},
	}})
	if diags.HasErrors() {
		return nil, diags
	}
	blocks := content.Blocks.OfType("policy")
	p := &Policy{at: map[string]hcl.Range{}, declared: len(blocks) > 0}
	for i, block := range blocks {
		if i > 0 {
			return nil, failure(block.DefRange, fmt.Sprintf("A file has only one policy block; the first is on line %d.", blocks[0].DefRange.Start.Line))
		}
		if diags := p.read(block.Body); diags.HasErrors() {
			return nil, diags
		}
	}
	return p, nil
}

func failure(at hcl.Range, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid policy", Detail: detail, Subject: &at}}
}

// read reads the arguments of a policy block.
func (p *Policy) read(body hcl.Body) hcl.Diagnostics {
	schema := &hcl.BodySchema{}
	arguments := p.arguments()
	names := slices.Sorted(maps.Keys(arguments))
	for _, name := range names {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: name})
	}
	content, diags := body.Content(schema)
	for _, name := range names {
		attribute, given := content.Attributes[name]
		if !given {
			continue
		}
		value, problems := attribute.Expr.Value(nil)
		if !problems.HasErrors() {
			if err := arguments[name](value); err != nil {
				problems = failure(attribute.Expr.Range(), fmt.Sprintf("%s: %s.", name, err))
			}
		}
		diags = append(diags, problems...)
		p.at[name] = attribute.Range
	}
	return diags
}

// arguments returns, for each argument, the function that sets its value.
func (p *Policy) arguments() map[string]func(cty.Value) error {
	return map[string]func(cty.Value) error{
		argAllow:       patterns(&p.Allow),
		argDeny:        patterns(&p.Deny),
		argBranches:    choice(&p.DenyBranches, map[string]bool{"allow": false, "deny": true}),
		argCommits:     choice(&p.ReachableCommits, map[string]bool{"any": false, "reachable": true}),
		argCredentials: choice(&p.DenyCredentials, map[string]bool{"allow": false, "deny": true}),
		argVersions:    choice(&p.Versions, map[string]Versions{"any": VersionsAny, "range": VersionsRange, "exact": VersionsExact}),
		argMinAge:      days(&p.MinAge),

		argAllowProviders:   patterns(&p.AllowProviders),
		argDenyProviders:    patterns(&p.DenyProviders),
		argWeakSignatures:   choice(&p.AllowWeakSignatures, map[string]bool{"allow": true, "deny": false}),
		argProjectProviders: choice(&p.DenyProjectProviders, map[string]bool{"allow": false, "deny": true}),
	}
}

func patterns(to *[]Pattern) func(cty.Value) error {
	return func(value cty.Value) error {
		if value.IsNull() || !value.Type().IsTupleType() || value.LengthInt() == 0 {
			return errors.New("it must be a list of at least one pattern")
		}
		for _, element := range value.AsValueSlice() {
			if element.IsNull() || element.Type() != cty.String {
				return errors.New("each pattern must be a string")
			}
			pattern, err := ParsePattern(element.AsString())
			if err != nil {
				return err
			}
			*to = append(*to, pattern)
		}
		return nil
	}
}

// choice returns the function for an argument whose value is one of a few words.
func choice[T any](to *T, words map[string]T) func(cty.Value) error {
	return func(value cty.Value) error {
		if !value.IsNull() && value.Type() == cty.String {
			if meaning, known := words[value.AsString()]; known {
				*to = meaning
				return nil
			}
		}
		return fmt.Errorf("it must be one of %q", slices.Sorted(maps.Keys(words)))
	}
}

func days(to *time.Duration) func(cty.Value) error {
	return func(value cty.Value) error {
		if value.IsNull() || value.Type() != cty.Number {
			return errors.New("it must be a number of days")
		}
		n, _ := value.AsBigFloat().Float64()
		if n < 0 || n > MaxAgeDays || n != math.Trunc(n) {
			return fmt.Errorf("it must be a whole number of days, from 0 to %d", MaxAgeDays)
		}
		*to = time.Duration(n) * 24 * time.Hour
		return nil
	}
}
