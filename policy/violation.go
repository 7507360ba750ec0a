package policy

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Violation is returned if a policy does not allow a call or an address.
type Violation struct {
	// Argument is the violated argument of the policy, such as "deny_sources".
	Argument string
	// Range is the position of the argument in the policy's file; empty if there is no
	// file.
	Range hcl.Range
	// Reason describes the violation, without credentials.
	Reason string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("the policy does not allow it: %s (%s)", v.Reason, v.Rule())
}

// Rule returns the violated argument with its position, such as "cotter.hcl:2, allow_sources".
func (v *Violation) Rule() string {
	if v.Range.Filename == "" {
		return "the argument " + v.Argument
	}
	return fmt.Sprintf("%s:%d, %s", v.Range.Filename, v.Range.Start.Line, v.Argument)
}
