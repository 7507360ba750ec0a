// Package gcs fetches module packages from Google Cloud Storage, for
// [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": new(gcs.Getter)}}
//
// It makes plain requests to the JSON API,
// https://cloud.google.com/storage/docs/json_api/v1, because the client libraries
// are larger than all the rest of a program that installs modules.
//
// # Addresses
//
// gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT. The host of the address
// is not contacted: requests go to storage.googleapis.com, or to [Getter].Endpoint.
//
// An object that is an archive, by its suffix or the argument archive, is
// downloaded as a file; getmodules unpacks it. A fragment (#GENERATION) chooses a
// generation of it.
//
// Any other address names a directory: all objects whose names begin with OBJECT and a
// slash, or the whole bucket without OBJECT. (Stock tools take all objects whose names
// begin with OBJECT, and fail if that matches objects outside of the directory.)
// Objects whose names end in a slash are left out. Names that point out of the
// directory are errors, and so are names that become the same path when cleaned
// ("a//b" and "a/b"). Eight objects are downloaded at a time.
//
// # Credentials
//
// [Getter].Token, or Google's application default credentials: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, gcloud's own file, or the credentials of the
// instance. The package golang.org/x/oauth2/google reads the environment for them.
// They are exchanged for a read-only token, which is kept until it expires. Without
// usable credentials, requests are anonymous, which is enough for public buckets; if
// permission is then denied, the error says why no credentials were used. (Stock tools
// fail in this case.) The user is never prompted.
//
// Tokens are sent to Google's server by https, and to Endpoint by the scheme that it
// has. Redirects are followed within the same server, and by https to other servers
// that are not on this machine. Other servers get no token.
//
// # Failures
//
// Network errors, the statuses 408 and 429 and server errors except 501 are retried.
// So are downloads that break off or do not have the CRC32C checksum that the server
// sends; see [Getter].Retries. All requests observe a pause that the server asks for,
// up to a minute. Errors contain the server's message, truncated and escaped.
//
// # What it does not do
//
//   - It does not use the HTTPClient, Retries and Backoff of the Fetcher, but its own.
//   - It does not limit objects; getmodules limits downloads. A page of a list may have
//     16 MiB.
//   - It supports only Google's public cloud, not other universe domains.
package gcs
