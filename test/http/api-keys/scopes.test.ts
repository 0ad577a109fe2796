// The scope matrix, generated from the route table: every endpoint, asked with every scope by the main key, a named key and an
// ancestor's named key. A key without the scope gets 403 scope_missing and nothing happens; with it the call is decided as ever.

import { beforeAll, describe, expect, test } from "bun:test";
import { type RequiredScope, SCOPES, type Scope } from "../../../actors/api-key/api-key.ts";
import { type AppParts, routesOf } from "../../../src/http/app.ts";
import type { Account } from "../../e2e/harness.ts";
import { prepared, useBench } from "../../e2e/use-bench.ts";
import { ENDPOINTS, hostOf, routeNames } from "../endpoints.ts";
import { type BenchAccounts, wellCalled } from "../well-called.ts";
import { makeKey } from "./key-bench.ts";

const bench = useBench();
const owner = prepared(() => hostOf(bench));
const user = prepared(() => bench.subaccount(owner, { CreditGranted: 10 }));

/** What each route asks of a key. Requests to models are forwarded apart from Elysia's hooks and ask for `invoke`. */
const REQUIRED: Readonly<Record<string, RequiredScope>> = Object.fromEntries(
  routesOf({} as AppParts).flatMap(({ method, path, hooks }) => {
    const name = `${method} ${path}`;
    const access = hooks.detail?.["x-access"];
    if (access !== undefined) return [[name, access.scope]];
    return path.startsWith("/v1/") ? [[name, "invoke"]] : [];
  }),
);
const NAMES = Object.keys(REQUIRED).filter((name) => name !== "PUT /x-clock");

/** `admin` is given only beside `manage`. */
const given = (scope: Scope): Scope[] => (scope === "admin" ? ["manage", "admin"] : [scope]);
const allows = (scopes: readonly Scope[], required: RequiredScope): boolean =>
  required === "none" || (required !== "main_key" && scopes.includes(required));

type Holder = "root" | "owner" | "user";
/** Secrets of named keys, by account and scope. */
const secrets: Record<Holder, Partial<Record<Scope, string>>> = { root: {}, owner: {}, user: {} };

beforeAll(async () => {
  const holders: Record<Holder, Pick<Account, "key">> = { root: { key: bench.rootKey }, owner, user };
  for (const [holder, account] of Object.entries(holders)) {
    for (const scope of SCOPES) {
      // An account that is no Owner gives no `admin`.
      if (holder === "user" && scope === "admin") continue;
      const key = await makeKey(bench, account, { Scopes: given(scope) });
      secrets[holder as Holder][scope] = key.secret;
    }
  }
});

const accounts = (): BenchAccounts => ({ bench, owner, user });

/** Who stands above: its key is used where the table's own account is below it. */
const ABOVE: Readonly<Record<Holder, Holder>> = { user: "owner", owner: "root", root: "root" };

test("every route that asks for a key names its scope", () => {
  const keyless = routeNames().filter((name) => REQUIRED[name] === undefined);
  expect(keyless.filter((name) => ENDPOINTS[name]!.as !== null)).toEqual(["GET /metrics"]);
});

describe.each(NAMES)("%s", (name) => {
  const required = REQUIRED[name]!;
  const as = ENDPOINTS[name]!.as as Holder;

  test("the main key has every scope", async () => {
    const { key, method, path, body } = await wellCalled(accounts(), name);
    const answer = await bench.call(key, method, path, body);
    expect(answer.body?.error?.code).not.toBe("scope_missing");
    expect(answer.body?.error?.code).not.toBe("invalid_api_key");
  });

  test.each(SCOPES)(`a key with %s, asked for ${required}`, async (scope) => {
    for (const holder of [as, ABOVE[as]]) {
      const secret = secrets[holder][scope];
      if (secret === undefined) continue;
      const { method, path, body } = await wellCalled(accounts(), name);
      const answer = await bench.call(secret, method, path, body);
      // The endpoints of keys refuse with the same code to give what the calling key has not.
      const isRefused =
        answer.status === 403 &&
        answer.body?.error?.code === "scope_missing" &&
        /which this call needs|main key/.test(answer.body.error.message);
      expect({ holder, isRefused }).toEqual({ holder, isRefused: !allows(given(scope), required) });
      expect(answer.body?.error?.code).not.toBe("invalid_api_key");
      expect(answer.status).toBeLessThan(500);
      if (isRefused && required !== "main_key") expect(answer.body.error.message).toContain(`"${required}"`);
    }
  });
});

test("GET /metrics asks for admin, and for Root", async () => {
  const status = async (key: string | undefined) => (await bench.call(key!, "GET", "/metrics")).status;
  expect(await status(bench.rootKey)).toBe(200);
  expect(await status(secrets.root.admin)).toBe(200);
  for (const scope of ["invoke", "read", "manage"] as const)
    expect(await status(secrets.root[scope])).toBe(403);
  expect(await status(secrets.owner.admin)).toBe(403);
});
