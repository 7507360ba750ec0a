// Package gcs fetches module packages from Google Cloud Storage, for
// [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": new(gcs.Getter)}}
//
// It sends plain requests to the JSON API, https://cloud.google.com/storage/docs/json_api/v1.
// It does not use the client libraries, because they are larger than all the rest of a program
// that installs modules.
//
// # Addresses
//
// An address has the form gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT. The host of
// the address is not contacted: requests go to storage.googleapis.com, or to [Getter].Endpoint.
//
// If an object is an archive, by its suffix or the argument archive, it is downloaded as a
// file, which getmodules unpacks. A fragment (#GENERATION) selects a generation of the object.
//
// Any other address names a directory. It consists of all objects whose names begin with OBJECT
// and a slash or, without OBJECT, of the whole bucket. (Stock tools download all objects whose
// names begin with OBJECT, and fail if that matches objects outside of the directory.) Objects
// whose names end in a slash are left out. Names that point out of the directory are errors,
// and so are names that become the same path when cleaned ("a//b" and "a/b"). Up to eight
// objects are downloaded concurrently.
//
// # Credentials
//
// The credentials are [Getter].Token, or Google's application default credentials: the file
// that GOOGLE_APPLICATION_CREDENTIALS names, gcloud's own file, or the credentials of the
// instance. The package golang.org/x/oauth2/google finds them through the environment. They are
// exchanged for a read-only token, which is kept until it expires. The user is never prompted.
//
// Without usable credentials, requests are anonymous, which is enough for public buckets. If
// permission is then denied, the error says why no credentials were used. (Stock tools fail
// without credentials.)
//
// Tokens are sent to Google's server by https, and to Endpoint by its own scheme. Redirects are
// followed within the same server, and by https to other servers that are not on this machine.
// Other servers get no token.
//
// # Failures
//
// Requests are retried after network errors, the statuses 408 and 429, and server errors except
// 501. Downloads are also retried if they break off, or do not match the CRC32C checksum that
// the server sends; see [Getter].Attempts. If the server asks for a pause of up to a minute, all
// requests observe it. Errors contain the server's message, truncated and escaped.
//
// # What it does not do
//
//   - It does not use the HTTPClient, Attempts and Backoff of the Fetcher, but its own.
//   - It does not limit the size of objects; getmodules limits downloads. A page of a list is
//     limited to 16 MiB.
//   - It does not support universe domains other than Google's public cloud.
package gcs
