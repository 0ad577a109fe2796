#!/bin/sh
# deploy/pin.sh [crane|skopeo|docker|curl]: asks the registry for the digest of every image that Dockerfile and compose.yaml name
# by a tag, and writes it behind the tag. Without an argument it tries all of these, in this order. All or none: where one digest
# cannot be fetched nothing is written. Asked again, it writes what the tags mean by then; `git checkout` takes them away.
set -eu
cd "$(dirname "$0")/.."
tools=${1:-crane skopeo docker curl}
files="Dockerfile compose.yaml"

# The name as a registry has it: owner/name, and library/name where there is no owner.
path_of() { case $1 in */*) echo "${1%:*}" ;; *) echo "library/${1%:*}" ;; esac; }

by_crane() { crane digest "$1"; }
by_skopeo() { skopeo inspect --no-tags --format '{{.Digest}}' "docker://docker.io/$(path_of "$1"):${1##*:}"; }
by_docker() { docker buildx imagetools inspect "$1" --format '{{.Manifest.Digest}}'; }
by_curl() {
  path=$(path_of "$1")
  token=$(curl -fsS --max-time 30 "https://auth.docker.io/token?service=registry.docker.io&scope=repository:$path:pull" |
    sed -n 's/.*"token": *"\([^"]*\)".*/\1/p')
  curl -fsSI --max-time 30 -H "Authorization: Bearer $token" \
    -H 'Accept: application/vnd.oci.image.index.v1+json' \
    -H 'Accept: application/vnd.docker.distribution.manifest.list.v2+json' \
    "https://registry-1.docker.io/v2/$path/manifests/${1##*:}" |
    tr -d '\r' | sed -n 's/^[Dd]ocker-[Cc]ontent-[Dd]igest: *//p'
}

# Prints the digest by the first tool that has one.
digest_of() {
  for tool in $tools; do
    command -v "$tool" >/dev/null 2>&1 || continue
    found=$("by_$tool" "$1" 2>/dev/null) || continue
    if printf %s "$found" | grep -Eqx 'sha256:[0-9a-f]{64}'; then
      printf %s "$found"
      return 0
    fi
  done
  return 1
}

# Tags of others; the image of this project is built here.
images=$(sed -n 's/^FROM \([^ @]*\).*/\1/p; s/^ *image: \([^ @]*\).*/\1/p' $files | grep -v '^arborgate:' | sort -u)
edits=
for image in $images; do
  if ! digest=$(digest_of "$image"); then
    echo "pin: no digest of $image could be fetched by any of: $tools." >&2
    echo "pin: this needs a network and one of these programs. Nothing was changed." >&2
    exit 1
  fi
  echo "$image@$digest"
  edits="$edits
s#\\(FROM\\|image:\\) $image\\(@sha256:[0-9a-f]*\\)\\{0,1\\}\\( \\|\$\\)#\\1 $image@$digest\\3#"
done
for file in $files; do
  sed "$edits" "$file" >"$file.pinned"
  cat "$file.pinned" >"$file"
  rm "$file.pinned"
done
