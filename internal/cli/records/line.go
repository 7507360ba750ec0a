package records

import (
	"cmp"
	"reflect"
	"strings"

	"github.com/cotterpin/cotter/installer/event"
	"github.com/cotterpin/cotter/internal/text/lazyregexp"
)

// FormatVersion is the version of the JSON output. Fields and types may be added without a new
// version; any other change needs a new version.
const FormatVersion = 1

// Record has the fields of a line of the JSON output without its envelope.
type Record any

var capital = lazyregexp.New(`[A-Z]`)

// KindOf returns the type of a record's line: "cache_dir" for a [CacheDir], for example, and
// "fetch_done" for an [event.FetchDone].
func KindOf(r Record) string {
	if result, ok := r.(Result); ok {
		return cmp.Or(result.done, "installed")
	}
	return strings.TrimPrefix(strings.ToLower(capital().ReplaceAllString(reflect.TypeOf(r).Name(), "_$0")), "_")
}

// Envelope has the fields at the start of each line of the JSON output.
type Envelope struct {
	// V is the version of the output.
	V int `json:"v"`
	// Type says which other fields the line has.
	Type string `json:"type"`
	// Project is the directory of the root module that the line is about, in runs on
	// several root modules.
	Project string `json:"project,omitempty"`
	// OK is in each result and in no other line. A successful run ends with one result, or with one for each
	// project, and OK is true. It is false if an error follows: the result is then what is known nevertheless.
	OK *bool `json:"ok,omitempty"`
}

// All has all types of lines, in the order of docs/json.schema.json. The first sentence of each
// type's comment, and the comments of fields, are shown there without the Go name.
var All = []Record{
	Result{},
	event.Resolved{}, event.FetchStarted{}, event.FetchProgress{}, event.FetchDone{}, event.WaitingForFetch{},
	event.ProviderProgress{}, event.HashVerified{}, event.ModuleInstalled{}, event.ProviderInstalled{},
	event.LockFileWritten{}, event.Waiting{},
	UnexpectedFiles{}, Warning{}, Error{},
	Report{}, Tree{}, Outdated{}, Edited{}, Diff{}, Restored{},
	Bundled{}, Stored{}, Pushed{}, Mirrored{},
	CacheDir{}, CacheUsage{}, CacheVerified{}, CacheKey{}, Finding{}, Doctor{}, Version{},
}
