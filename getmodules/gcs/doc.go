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
// Any other address is that of a directory: all objects whose names begin with
// OBJECT and a slash; without OBJECT it is the whole bucket. Stock tools take
// those that begin with OBJECT alone, and fail if there are others beside it.
// Objects whose names end in a slash are left out. Names that point out of the
// directory are errors, and so are two that differ only in what means nothing in
// a path ("a//b"). Eight objects are downloaded at a time.
//
// # Credentials
//
// [Getter].Token, or Google's application default credentials: the file that
// GOOGLE_APPLICATION_CREDENTIALS names, that of gcloud, or those of the instance.
// It is golang.org/x/oauth2/google that reads the environment for them. They are
// asked for a token that can only read, which is kept until it expires. Where
// none can be used, requests are anonymous, which is enough for public buckets;
// an error for lack of permission says why there were none. Stock tools stop in
// this case. The user is never prompted.
//
// Tokens are sent by https to Google's server, and to that of Endpoint by
// whatever scheme it has. A redirect is followed to the same server, or by https
// to one that is not on this machine; another server gets no token.
//
// # Failures
//
// A request that fails on its way, or gets 408, 429 or a server error except 501,
// is retried, and so is a download that breaks off or does not have the CRC32C
// checksum that the server names; see [Getter].Retries. All requests wait for a
// pause that the server asks for, if it is not longer than a minute. Errors hold
// what the server says, bounded and escaped.
//
// # What it does not do
//
//   - It does not use the Fetcher's HTTPClient, Retries and Backoff, but its own.
//   - It sets no limits to objects; getmodules watches over the downloads. A page
//     of a list may have 16 MiB.
//   - It knows no other clouds than the public one of Google's (universe
//     domains).
package gcs
