// Package s3 fetches module packages from Amazon S3 and from servers that speak
// its protocol, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": new(s3.Getter)}}
//
// It uses the AWS SDK, as the stock tools do, so that the same addresses and
// credentials work. It is a separate package because of the SDK's size.
//
// # Addresses
//
//   - s3::https://s3.amazonaws.com/BUCKET/KEY, which is in us-east-1,
//     s3-REGION.amazonaws.com/BUCKET/KEY, BUCKET.s3-REGION.amazonaws.com/KEY and
//     BUCKET.s3.REGION.amazonaws.com/KEY. The same forms work below Amazon's domains in China
//     and elsewhere. The labels before the domain only name the region and the bucket; the SDK
//     finds the server.
//   - s3.REGION.amazonaws.com/BUCKET/KEY, which stock tools misread.
//   - s3::https://HOST/BUCKET/KEY for other servers, with the argument region if it is not
//     us-east-1. The scheme may also be http. Directory buckets and access points exist only at
//     Amazon.
//
// If an object is an archive, by its suffix or the argument archive, it is downloaded as a
// file, which getmodules unpacks. The argument version selects a version of the object.
//
// Any other address names a directory. It consists of the latest versions of all objects whose
// names begin with KEY and a slash or, without KEY, of the whole bucket. (Stock tools download
// all objects whose names begin with KEY, and fail if that matches objects outside of the
// directory.) Objects whose names end in a slash are left out. Names that point out of the
// directory are errors, and so are names that become the same path when cleaned ("a//b" and
// "a/b"). Up to eight objects are downloaded concurrently.
//
// # Credentials
//
// Credentials are taken from the first of these sources that applies:
//
//   - The profile of the shared configuration that the argument aws_profile names. Its region
//     takes precedence over the region of the address. The argument is ignored if a server or a
//     package wrote the address.
//   - The arguments aws_access_key_id, aws_access_key_secret and aws_access_token. If one of
//     them is present, no other credentials are looked for.
//   - The metadata service at [Getter].MetadataURL.
//   - The default sources of the AWS SDK: environment variables, the shared configuration, the
//     roles of containers and instances. The SDK decides which environment variables it reads.
//     The result is kept for later downloads.
//
// The user is never prompted, and no request is sent without credentials: even public
// buckets need the credentials of some account.
//
// Requests are signed with the credentials. The server learns the id of the key and the token of a
// session, but not the key. So the user's credentials, which are all except those that the address
// contains, are only for these servers:
//
//   - those that the SDK derives from the region and the bucket, by https. A host below Amazon's
//     domains is not enough, because customers have hosts there too.
//   - the one that the SDK's configuration names for S3: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or
//     endpoint_url of the profile.
//   - those in [Getter].Endpoints.
//
// For other servers Get returns a [*CredentialsError] and sends no request. (Stock tools sign for
// any server.) Credentials in an address are for the server in that address. Redirects are not
// followed, because a signature is valid for one host.
//
// # What it does not do
//
//   - It does not use the HTTPClient, Attempts and Backoff of the Fetcher. The SDK retries
//     requests by its own rules, but does not retry downloads that break off.
//   - It does not limit the size of objects; getmodules limits downloads. Other answers are
//     limited to 16 MiB.
//   - It does not print. Messages that the SDK would write to standard error are dropped.
package s3
