// Package ocilayout writes and reads an OCI image layout in one tar file:
// https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
//
//	oci-layout              the version of the layout
//	index.json              the manifests, with their tags
//	blobs/sha256/<digest>   manifests, configs and layers
//
// "oras cp --from-oci-layout" and "skopeo copy oci-archive:" read this format. A tag is the
// annotation org.opencontainers.image.ref.name of a manifest in the index.
//
// Files are written deterministically: in a fixed order, without times and owners. Files of other
// programs can be read if they have only regular files and directories, no compression, and
// digests with the algorithm sha256. The content of a blob is compared with its digest when it is
// read.
package ocilayout
