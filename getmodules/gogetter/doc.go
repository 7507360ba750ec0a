// Package gogetter fetches module packages from Amazon S3, from what speaks its
// protocol, and from Google Cloud Storage, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: gogetter.Getters()}
//
// It is on top of hashicorp/go-getter, as the stock tools are, so that the same
// addresses and the same credentials work. With it come the SDKs of both
// clouds, about 35 MB of them; that is why it is a package of its own. They
// start faster and weigh 20 MB less if they are built with the tag
// disable_grpc_modules, which is that of cloud.google.com/go/storage and leaves
// out what this package does not use.
//
// # Addresses
//
//   - s3::https://s3.amazonaws.com/BUCKET/KEY, s3-REGION.amazonaws.com/BUCKET/KEY,
//     BUCKET.s3-REGION.amazonaws.com/KEY and BUCKET.s3.REGION.amazonaws.com/KEY.
//   - s3::https://HOST/BUCKET/KEY for other servers, with the argument region if
//     it is not us-east-1; also s3::http.
//   - gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT.
//
// An object that is an archive, by its suffix or the argument archive, is
// downloaded as a file; getmodules unpacks it. The argument version chooses a
// version of an S3 object, and a fragment (#GENERATION) a generation in GCS.
//
// Any other address is that of a directory: all objects whose names begin with
// KEY and a slash, without the versions of single objects. Stock tools take
// those that begin with KEY alone, and fail if there are others beside it.
// Objects whose names differ only in slashes that mean nothing ("a//b") become
// one file.
//
// # Credentials
//
// Those of S3 are the arguments aws_access_key_id, aws_access_key_secret and
// aws_access_token, or of the profile that aws_profile names, or what the AWS
// SDK finds: environment variables, the shared configuration, the roles of
// containers and instances. Those of GCS are GOOGLE_OAUTH_ACCESS_TOKEN or
// application default credentials. It is the SDKs and go-getter that read the
// environment; it is not for this package to say which variables. Nothing is
// asked of the user.
//
// Requests to whichever S3 server an address names are signed with the
// credentials. The server learns the id of the key, and a session's token, but
// not the key.
//
// # What it does not do
//
//   - It does not use the Fetcher's HTTPClient, Retries and Backoff: the SDKs
//     have their own.
//   - It sets no limits; getmodules watches over the downloads.
//   - It does not keep the AWS SDK from writing "Response has no supported
//     checksum" to standard error for an S3 object without one. A program sets
//     AWS_RESPONSE_CHECKSUM_VALIDATION=when_required in its environment for that.
//   - go-getter leaves the clients of GCS open, with their idle connections.
package gogetter
