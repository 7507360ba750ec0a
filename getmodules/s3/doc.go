// Package s3 fetches module packages from Amazon S3 and from servers that speak its protocol, for
// [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"s3": new(s3.Getter)}}
//
// It uses the AWS SDK, as the stock tools do, so that the same addresses and credentials work. Addresses are
// s3::https://s3.amazonaws.com/BUCKET/KEY (in us-east-1), s3-REGION.amazonaws.com/BUCKET/KEY,
// BUCKET.s3-REGION and BUCKET.s3.REGION, also below Amazon's other domains, and s3.REGION, which stock tools
// misread. These labels only name region and bucket; the SDK finds the server. Other servers are
// s3::https://HOST/BUCKET/KEY, or http, with the argument region if it is not us-east-1. Directory buckets
// and access points exist only at Amazon.
//
// An archive, by its suffix or the argument archive, is downloaded as a file, which getmodules unpacks; the
// argument version selects a version of it. Any other address names a directory: the latest versions of all
// objects whose names begin with KEY and a slash, or without KEY the whole bucket, as in package gcs.
//
// Credentials are from the first of these sources, without prompts. No request is sent without them:
//
//   - the profile of the argument aws_profile, whose region takes precedence, unless a server or a package
//     wrote the address
//   - the arguments aws_access_key_id, aws_access_key_secret and aws_access_token, if one of them is present
//   - the metadata service at [Getter].MetadataURL
//   - the default sources of the SDK: environment variables, the shared configuration, roles of containers
//     and instances. The result is kept.
//
// Requests are signed: the server learns the id of the key and the token of a session. So all credentials
// except those in the address are only for servers that the SDK derives from region and bucket, by https,
// that the SDK's configuration names for S3, or that are in [Getter].Endpoints. For others Get returns a
// [*CredentialsError]; stock tools sign for any server. Redirects are not followed, because a signature is
// valid for one host. The SDK retries requests, but not downloads that break off.
package s3
