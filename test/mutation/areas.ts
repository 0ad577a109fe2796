// Which tests judge a mutation of which sources: the longest beginning of a path counts. The one place to change when
// directories move.

export const AREAS: Readonly<Record<string, readonly string[]>> = {
  actors: ["test/actors"],
  "actors/key-pool": ["test/actors", "test/admin", "test/http/provider-keys/keys.test.ts"],
  "actors/level": ["test/actors", "test/gateway/routing", "test/e2e/failover-keys.test.ts"],
  "actors/owner": ["test/actors", "test/http/configuration"],
  src: ["test/node", "test/e2e/process.test.ts", "test/settings/settings.test.ts"],
  "src/admin": ["test/admin", "test/http/accounts", "test/http/provider-keys"],
  "src/base": ["test/base", "test/runtime", "test/http/errors.test.ts", "test/gateway/account"],
  "src/bus": ["test/bus"],
  "src/cli": ["test/cli"],
  "src/dialect": ["test/dialect"],
  "src/gateway": ["test/gateway", "test/e2e/path.test.ts", "test/e2e/money.test.ts"],
  "src/gateway/answer": [
    "test/gateway",
    "test/e2e/path.test.ts",
    "test/e2e/sse-keepalive.test.ts",
    "test/e2e/stream-shape.test.ts",
  ],
  "src/gateway/codec/stream-shape.ts": ["test/gateway/codec", "test/e2e/stream-shape.test.ts"],
  "src/gateway/dry-run": [
    "test/gateway/dry-run",
    "test/http/dashboard/explain.test.ts",
    "test/http/gateway/quote.test.ts",
  ],
  "src/gateway/idempotency": ["test/gateway/idempotency", "test/e2e/idempotency.test.ts"],
  "src/gateway/routing": ["test/gateway/routing", "test/e2e/failover", "test/http/dashboard/explain.test.ts"],
  "src/gateway/stored-objects": ["test/gateway/stored-objects", "test/e2e/responses.test.ts"],
  "src/http": ["test/http"],
  "src/mail": ["test/mail"],
  "src/node": ["test/node", "test/e2e/process.test.ts"],
  "src/report": ["test/report", "test/http/bills"],
  "src/runtime": ["test/runtime", "test/sim/sim.test.ts"],
  "src/settings/settings.ts": ["test/settings/settings.test.ts"],
  "src/sse": ["test/sse", "test/gateway/attempt"],
  "src/store": ["test/store/sqlite", "test/store/memory", "test/store/mongo", "test/base/semaphore"],
  "src/store/sqlite": ["test/store/sqlite"],
  "src/store/mongo": ["test/store/mongo"],
  "src/upstream": ["test/upstream"],
};

/** The tests of a source file, as arguments of the test runner. */
export function testsOf(
  file: string,
  areas: Readonly<Record<string, readonly string[]>> = AREAS,
): readonly string[] {
  const area = Object.keys(areas)
    .filter((path) => file.startsWith(path))
    .sort((a, b) => b.length - a.length)[0];
  if (area === undefined) throw new Error(`no tests are named for ${file}`);
  return areas[area]!;
}
