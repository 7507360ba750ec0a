package policy_test

import (
	"testing"

	"github.com/cotterpin/cotter/policy"
)

// A call without a source was not checked, so it is not allowed. A nil policy allows everything.
func TestCallWithoutSource(t *testing.T) {
	t.Parallel()
	if err := (&policy.Policy{}).CheckCall(policy.Call{}); err == nil {
		t.Error("a call without a source is allowed")
	}
	var none *policy.Policy
	if err := none.CheckCall(policy.Call{}); err != nil {
		t.Error(err)
	}
	if used := policy.Mirrors(nil, nil, "", nil); used != nil {
		t.Errorf("without settings, the mirrors are %v", used)
	}
}
