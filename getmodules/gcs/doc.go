// Package gcs fetches module packages from Google Cloud Storage, for [getmodules.Fetcher].Getters:
//
//	fetcher := getmodules.Fetcher{Getters: map[string]getmodules.Getter{"gcs": new(gcs.Getter)}}
//
// It sends plain requests to the JSON API, https://cloud.google.com/storage/docs/json_api/v1. The client
// libraries are larger than all the rest of a program that installs modules. Addresses have the form
// gcs::https://www.googleapis.com/storage/v1/BUCKET/OBJECT. That host is not contacted: requests go to
// storage.googleapis.com, or to [Getter].Endpoint.
//
// An archive, by its suffix or the argument archive, is downloaded as a file, which getmodules unpacks. A
// fragment (#GENERATION) selects a generation of it. Any other address names a directory: all objects whose
// names begin with OBJECT and a slash, or without OBJECT the whole bucket. (Stock tools download all objects
// whose names begin with OBJECT, and fail if one is outside of the directory.) Names that end in a slash are
// left out. Names that point out of the directory are errors, and so are those that become the same path when
// cleaned ("a//b" and "a/b").
//
// The credentials are [Getter].Token, or Google's application default credentials, which package
// golang.org/x/oauth2/google finds through the environment, for read access. The user is never prompted.
// Without usable credentials, requests are anonymous, which is enough for public buckets, and stock tools
// fail; if permission is then denied, the error says why there were none. Tokens are sent only to Google by
// https, and to Endpoint by its own scheme. Redirects are followed within the same server, and by https to
// others that are not on this machine.
//
// Network errors, the statuses 408 and 429, server errors except 501, and downloads that break off or do not
// match the server's CRC32C are retried by the settings of the Getter, not of the Fetcher. A pause of up to a
// minute that a server asks for applies to all requests. getmodules limits downloads; a page of a list has at
// most 16 MiB. Universe domains other than Google's public cloud are not supported.
package gcs
