#!/usr/bin/env bash
# Puts a release of cotter into a directory and that into PATH, for action.yml:
#
#	install.sh VERSION DIR [--require-provenance]
#
# The archive must have the checksum in checksums.txt. With GH_TOKEN and gh its provenance
# is checked too: which workflow of which repository has built it. Without them it warns, or
# fails with --require-provenance.
set -euo pipefail

readonly repository=cotterpin/cotter
readonly releases=${COTTER_RELEASES_URL:-https://github.com/$repository/releases}

version=$1
dir=$2
unproven=warning
case ${3-} in
"") ;;
--require-provenance) unproven=error ;;
*) echo "::error::install.sh has no argument $3" && exit 1 ;;
esac

# The newest release is where this address redirects to.
if [[ $version == latest ]]; then
	version=$(curl -fsSLI --retry 3 -o /dev/null -w '%{url_effective}' "$releases/latest")
	version=${version##*/}
fi
if [[ ! $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
	echo "::error::\"$version\" is no version of cotter, such as v0.1.0"
	exit 1
fi

format=tar.gz
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows format=zip ;;
*) echo "::error::there is no release of cotter for $(uname -s)" && exit 1 ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "::error::there is no release of cotter for $(uname -m)" && exit 1 ;;
esac

archive=cotter_${version#v}_${os}_${arch}.$format
mkdir -p "$dir"
cd "$dir"
for file in "$archive" checksums.txt; do
	curl -fsSL --retry 3 -o "$file" "$releases/download/$version/$file"
done

# One line is for the archive; another one may be for its bill of materials, which was
# not downloaded.
awk -v name="$archive" '$2 == name' checksums.txt >wanted.txt
if command -v sha256sum >/dev/null; then
	sha256sum --check --strict wanted.txt
else
	shasum -a 256 --check --strict wanted.txt
fi
skipped=
[[ -n ${GH_TOKEN:-} ]] || skipped="there is no token"
command -v gh >/dev/null || skipped="gh is not installed"
if [[ -z $skipped ]]; then
	gh attestation verify "$archive" --repo "$repository"
else
	echo "::$unproven::the provenance of $archive was not checked: $skipped"
	[[ $unproven == warning ]] || exit 1
fi

if [[ $format == zip ]]; then
	unzip -qo "$archive"
else
	tar -xzf "$archive"
fi
./cotter --version
if [[ -n ${GITHUB_PATH:-} ]]; then
	echo "$dir" >>"$GITHUB_PATH"
	echo "version=$version" >>"$GITHUB_OUTPUT"
fi
