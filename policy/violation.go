package policy

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Violation says that a policy does not allow something.
type Violation struct {
	// Argument is the one of the policy that refuses: "deny_sources".
	Argument string
	// Range is where the policy's file has it; empty for a policy that is from
	// no file.
	Range hcl.Range
	// Reason says what is wrong, without credentials.
	Reason string
}

func (v *Violation) Error() string {
	where := "the argument " + v.Argument
	if v.Range.Filename != "" {
		where = fmt.Sprintf("%s:%d, %s", v.Range.Filename, v.Range.Start.Line, v.Argument)
	}
	return fmt.Sprintf("the policy does not allow it: %s (%s)", v.Reason, where)
}
