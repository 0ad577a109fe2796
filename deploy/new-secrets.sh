#!/bin/sh
# deploy/new-secrets.sh [DIRECTORY]: makes the secrets of compose.yaml, once, each of them random. Never overwrites.
# The directory is its owner's alone. Files that containers mount are readable inside it, since each image has another user.
set -eu
cd "$(dirname "$0")"
into=${1:-secrets}

if [ -e "$into" ]; then
  echo "new-secrets: $into is there already; nothing was changed" >&2
  exit 1
fi
hex() { od -An -tx1 -N "$1" /dev/urandom | tr -d ' \n'; }
base64_of() { head -c "$1" /dev/urandom | base64 | tr -d '\n'; }

umask 077
mkdir -p "$into"
# A letter first: NATS reads a token of digits as a number.
nats=n$(hex 24)
metrics=$(hex 24)
mongo=$(hex 24)

cat >"$into/arborgate.env" <<END
ROOT_KEY=sk-$(hex 24)
SECRETS_KEY=$(base64_of 32)
STORE_URL=mongodb://arborgate:$mongo@mongo-1,mongo-2,mongo-3/arborgate?replicaSet=rs0&authSource=admin
NATS_URL=nats://$nats@nats:4222
METRICS_TOKEN=$metrics
END
echo "NATS_TOKEN=$nats" >"$into/nats.env"

umask 022
base64_of 96 >"$into/mongo-keyfile"
hex 24 >"$into/mongo-admin-password"
printf %s "$mongo" >"$into/mongo-arborgate-password"
printf %s "$metrics" >"$into/metrics-token"
hex 24 >"$into/grafana-password"
echo "new-secrets: wrote $into. Keep a copy of arborgate.env where no backup of the database is; ROOT_KEY in it is Root's key."
