#!/bin/sh
# Runs Bun with the arguments given, on a machine that may have nothing but Node and npm, or Bun alone.
# Installs the locked dependencies when they are missing or older than the lock file (Bun is one of them),
# and sets what can only be set before Bun starts: its limit of upstream calls in flight; how far the heap may grow before
# it is collected, to twice what is alive instead of three times, and how long freed memory stays with the process, a second
# instead of a tenth (bench/README.md); and, for tests, whose code runs a few times, a compiler without its last tier.
set -eu
cd "$(dirname "$0")/.."

bun=node_modules/.bin/bun
mark=node_modules/.installed
install() {
  if command -v bun >/dev/null 2>&1; then
    bun install --frozen-lockfile >&2
  else
    version=$(sed -n 's/^ *"bun": "\([0-9.]*\)",*$/\1/p' package.json)
    npx --yes "bun@$version" install --frozen-lockfile >&2
  fi && touch "$mark"
}
# Not every shell takes a file that is missing for older than another.
if [ ! -x "$bun" ] || [ ! -e "$mark" ] || [ bun.lock -nt "$mark" ]; then
  # Without the mark the packages may be whole all the same, from an install by hand: a machine that can install nothing uses them.
  if ! install && { [ ! -x "$bun" ] || [ -e "$mark" ]; }; then exit 1; fi
fi

BUN_CONFIG_MAX_HTTP_REQUESTS=${BUN_CONFIG_MAX_HTTP_REQUESTS:-65000}
PATH="$PWD/node_modules/.bin:$PATH"
if [ "${1:-}" = test ]; then export BUN_JSC_useFTLJIT="${BUN_JSC_useFTLJIT:-0}"; fi
BUN_JSC_heapGrowthMaxIncrease=${BUN_JSC_heapGrowthMaxIncrease:-1}
MIMALLOC_PURGE_DELAY=${MIMALLOC_PURGE_DELAY:-1000}
export BUN_CONFIG_MAX_HTTP_REQUESTS BUN_JSC_heapGrowthMaxIncrease MIMALLOC_PURGE_DELAY PATH
exec "$bun" "$@"
