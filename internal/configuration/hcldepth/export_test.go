package hcldepth

import "github.com/hashicorp/hcl/v2/hclsyntax"

const Budget = budget

// CheckPieces exports checkPieces, so that tests can use a small budget.
var CheckPieces = checkPieces

// ParseWithin exports parseWithin, which is ParseConfig with a budget.
var ParseWithin = parseWithin

var Fitting = fitting

func TokenWeight(token hclsyntax.TokenType) int {
	_, weight := level(token)
	return weight
}

const MaxCeiling = maxCeiling

var Ceiling = ceiling

var Reserve = reserve
