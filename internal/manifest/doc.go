// Package manifest reads and writes modules.json. In this file, which is in .terraform/modules,
// stock tools record which modules are installed in which directories.
//
// The format has no published description; it was observed on OpenTofu 1.12 and
// Terraform 1.11, which write the same bytes. It is one JSON object,
//
//	{"Modules":[{"Key":"","Source":"","Dir":"."},{"Key":"net","Source":"./net","Dir":"net"}]}
//
// compact and without a newline at the end. The records are sorted by key, and
// the root module's is always among them.
//
// Reading is as tolerant as in stock tools: an empty file is an empty manifest, unknown members
// are ignored, the case of member names does not matter, and versions may be written loosely
// ("v1.4"). Whatever stock tools reject is an error here too: text that is not JSON, two records
// with the same key, and an invalid version.
//
// The package does not validate the records. Directories may point anywhere, and sources may be
// any text. Callers must check a record before they use it, because another program may have
// written it.
//
// Limits: 16 MiB, and 200 levels of nesting.
package manifest
