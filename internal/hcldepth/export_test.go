package hcldepth

import "github.com/hashicorp/hcl/v2/hclsyntax"

// Budget exports budget.
const Budget = budget

// CheckPieces exports checkPieces, so that tests can use a small budget.
var CheckPieces = checkPieces

// ParseWithin exports parseWithin, which is ParseConfig with a budget.
var ParseWithin = parseWithin

// Fitting exports fitting.
var Fitting = fitting

// TokenWeight returns the weight of a token.
func TokenWeight(token hclsyntax.TokenType) int {
	_, weight := level(token)
	return weight
}

// MaxCeiling exports maxCeiling.
const MaxCeiling = maxCeiling

// Ceiling exports ceiling.
var Ceiling = ceiling

// Reserve exports reserve, so that tests can keep others from parsing.
var Reserve = reserve
