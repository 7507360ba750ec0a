// Package manifest reads and writes modules.json, the file under
// .terraform/modules by which stock tools know which modules are installed, and
// where.
//
// The format has no published description; it was observed on OpenTofu 1.12 and
// Terraform 1.11, which write the same bytes. It is one JSON object,
//
//	{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"./net","Dir":"net"}]}
//
// compact and without a newline at the end. The records are sorted by key, and
// the root module's is always among them.
//
// Reading is as tolerant as in the stock tools: no bytes at all are an empty
// manifest, unknown members are ignored, the case of member names does not
// matter, and versions may be written loosely ("v1.4"). What stock tools fail
// on is an error here too: a manifest that is not JSON, two records with one
// key, a version that is none.
//
// The package does not judge what a manifest says. Its directories may lead
// anywhere, its sources may be anything: whoever acts on a record that another
// program may have written checks it first.
//
// Limits: 16 MiB, and 200 levels of nesting.
package manifest
