# The image of a release. goreleaser puts the binaries into the context, by platform.
# It has no shell and no git: cotter then fetches from git servers by itself, over https.
FROM --platform=$BUILDPLATFORM alpine:3.22 AS certificates
RUN apk add --no-cache ca-certificates
# COPY keeps the modes of directories below the one that it copies.
RUN mkdir -p /root-of-image/cache /root-of-image/state && chmod 1777 /root-of-image/cache /root-of-image/state

FROM scratch
ARG TARGETPLATFORM
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=certificates /root-of-image/ /
COPY LICENSE /LICENSE
COPY $TARGETPLATFORM/cotter /cotter
# The image runs as any user. Each has a directory of its own, and the sticky bit of /cache and
# /state keeps others from replacing it.
ENV COTTER_CACHE_DIR=/cache/{uid} COTTER_STATE_DIR=/state/{uid}
WORKDIR /src
ENTRYPOINT ["/cotter"]
