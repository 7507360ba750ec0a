// Package s3 fetches module packages from Amazon S3 and from servers that speak
// its protocol, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": new(s3.Getter)}}
//
// It is on top of the AWS SDK, as the stock tools are, so that the same addresses
// and the same credentials work. It is a package of its own because of the SDK's
// size.
//
// # Addresses
//
//   - s3::https://s3.amazonaws.com/BUCKET/KEY, which is in us-east-1,
//     s3-REGION.amazonaws.com/BUCKET/KEY, BUCKET.s3-REGION.amazonaws.com/KEY and
//     BUCKET.s3.REGION.amazonaws.com/KEY, and the same below the domains that
//     Amazon has in China and elsewhere. What stands in front of the domain says
//     which region and bucket are meant, and no more: the SDK finds the server.
//   - s3.REGION.amazonaws.com/BUCKET/KEY, which stock tools misread.
//   - s3::https://HOST/BUCKET/KEY for other servers, with the argument region if
//     it is not us-east-1; also s3::http.
//
// An object that is an archive, by its suffix or the argument archive, is
// downloaded as a file; getmodules unpacks it. The argument version chooses a
// version of it.
//
// Any other address is that of a directory: all objects whose names begin with
// KEY and a slash, without the versions of single objects; without KEY it is the
// whole bucket. Stock tools take those that begin with KEY alone, and fail if
// there are others beside it. Objects whose names end in a slash are left out.
// Names that point out of the directory are errors, and so are two that differ
// only in what means nothing in a path ("a//b"). Eight objects are downloaded at
// a time.
//
// # Credentials
//
// In this order:
//
//   - The profile of the shared configuration that the argument aws_profile
//     names. Its region counts then, before that of the address.
//   - The arguments aws_access_key_id, aws_access_key_secret and
//     aws_access_token. One of them is enough for no others to be looked for.
//   - Those of the metadata service at [Getter].MetadataURL.
//   - What the AWS SDK finds: environment variables, the shared configuration,
//     the roles of containers and instances. It is the SDK that reads the
//     environment; it is not for this package to say which variables. What it
//     found is kept for the next downloads.
//
// The user is never prompted, and no request is sent without credentials: public
// buckets need some as well, of any account.
//
// Requests to whichever server an address names are signed with the credentials.
// The server learns the id of the key, and a session's token, but not the key.
// Redirects are not followed, because a signature is good for one host.
//
// # What it does not do
//
//   - It does not use the Fetcher's HTTPClient, Retries and Backoff: the SDK
//     repeats requests by its own rules, but no download that breaks off.
//   - It sets no limits to objects; getmodules watches over the downloads. Other
//     answers may have 16 MiB.
//   - It does not print: what the SDK would write to standard error is dropped.
package s3
