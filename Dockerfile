# The image of a release. goreleaser puts the binaries into the context, by platform.
# It has no shell and no git: cotter then fetches from git servers by itself, over https
# and ssh.
FROM --platform=$BUILDPLATFORM alpine:3.22 AS certificates
RUN apk add --no-cache ca-certificates

FROM scratch
ARG TARGETPLATFORM
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY LICENSE /LICENSE
COPY $TARGETPLATFORM/cotter /cotter
# Paths that any user can write to if they are mounted.
ENV COTTER_CACHE_DIR=/cache COTTER_STATE_DIR=/state
WORKDIR /src
ENTRYPOINT ["/cotter"]
