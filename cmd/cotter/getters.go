package main

import (
	"net/http"

	"github.com/cotterpin/cotter/getmodules"
	"github.com/cotterpin/cotter/getmodules/gcs"
	"github.com/cotterpin/cotter/getmodules/hg"
	"github.com/cotterpin/cotter/getmodules/s3"
)

// getters returns the getters for sources that need large dependencies or other programs.
// The SDKs find most of their settings themselves. The other settings are environment
// variables that stock tools use too.
func getters(client *http.Client, env func(string) string) map[string]getmodules.Getter {
	return map[string]getmodules.Getter{
		"s3": &s3.Getter{HTTPClient: client, MetadataURL: env("AWS_METADATA_URL")},
		"gcs": &gcs.Getter{
			HTTPClient:   client,
			Endpoint:     env("STORAGE_EMULATOR_HOST"),
			Token:        env("GOOGLE_OAUTH_ACCESS_TOKEN"),
			QuotaProject: env("GOOGLE_CLOUD_QUOTA_PROJECT"),
		},
		"hg": hg.Getter{},
	}
}
