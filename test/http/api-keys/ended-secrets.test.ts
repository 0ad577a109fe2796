// Secrets that have ended: no endpoint answers one, whatever the method and the spelling of the path, and no answer is replayed
// to one.

import { beforeAll, describe, expect, test } from "bun:test";
import { callsTo } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { ENDPOINTS, hostOf, routeNames } from "../endpoints.ts";
import { type BenchAccounts, wellCalled } from "../well-called.ts";
import { makeKey } from "./key-bench.ts";

// Each call comes from an address of its own, since dead secrets are slowed down by address.
const bench = useBench({ settings: { TRUST_PROXY: "127.0.0.0/8,::1" } });
let calls = 0;
const from = () => `2001:db8::${(++calls).toString(16)}`;
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 10 }));
const accounts = (): BenchAccounts => ({ bench, owner, user });

const NAMES = routeNames().filter((name) => ENDPOINTS[name]!.as !== null && name !== "PUT /x-clock");
const SCOPES = ["invoke", "read", "manage"];
const headers = { "idempotency-key": "kept" };
const ended: string[] = [];
/** The document knows no path with a slash behind it, so these answers are not compared with it. */
const { call } = callsTo(
  () => bench.url,
  () => {},
);

beforeAll(async () => {
  const above = { root: { key: bench.rootKey }, owner, user };
  for (const account of Object.values(above)) {
    const keys = await Promise.all(
      Array.from({ length: 3 }, () => makeKey(bench, account, { Scopes: SCOPES })),
    );
    const [deleted, disabled, rotated] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]];
    for (const { secret } of keys) {
      expect((await bench.call(secret, "GET", "/dashboard/status")).status).toBe(200);
      await bench.call(secret, "POST", "/dashboard/keys", { Name: "kept", Scopes: ["read"] }, { headers });
    }
    await bench.call(account.key, "DELETE", `/dashboard/keys/${deleted.id}`);
    await bench.call(account.key, "PUT", `/dashboard/keys/${disabled.id}`, { Status: false });
    await bench.call(account.key, "POST", `/dashboard/keys/${rotated.id}/rotate`);
    ended.push(deleted.secret, disabled.secret, rotated.secret);
  }
});

describe.each(NAMES)("%s", (name) => {
  test("refuses every secret that has ended, before all else", async () => {
    const { method, path, body } = await wellCalled(accounts(), name);
    const [bare, query] = path.split("?") as [string, string | undefined];
    const slashed = `${bare}/${query === undefined ? "" : `?${query}`}`;
    const ways: [method: string, path: string][] = [
      [method, path],
      [method, slashed],
      ...(method === "GET" ? ([["HEAD", path]] as [string, string][]) : []),
    ];
    for (const secret of ended) {
      for (const [by, at] of ways) {
        const answer = await call(secret, by, at, by === "HEAD" ? undefined : body, {
          headers: { ...headers, "x-forwarded-for": from() },
        });
        const code = by === "HEAD" ? "invalid_api_key" : answer.body?.error?.code;
        expect([by, at, answer.status, code]).toEqual([by, at, 401, "invalid_api_key"]);
      }
    }
  });
});
