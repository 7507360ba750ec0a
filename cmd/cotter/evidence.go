package main

import (
	"context"

	"github.com/cotterpin/cotter/installer"
)

// evidenceFlags name the mirror or the bundle whose evidence of earlier runs counts, for commands that send no
// requests.
func evidenceFlags() []addFlag {
	return []addFlag{
		text("mirror", "count what the mirror `oci://HOST/REPOSITORY` has confirmed; the default is COTTER_MIRROR"),
		text("bundle", "count what the bundle in `FILE` has confirmed"),
	}
}

// withNamedStores adds the mirrors of a project and the bundle of the command line, so that what they have
// confirmed in earlier runs counts. It sends no requests.
func withNamedStores(ctx context.Context, cmd *invocation, out *output, in *installer.Installer, req request) (request, error) {
	req, err := newMirrors(cmd, out, in).inRequest(ctx, req)
	if err == nil {
		err = addBundle(cmd, &req)
	}
	return req, err
}
