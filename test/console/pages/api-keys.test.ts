// The form of an API key: what it sends, what keeps it from being sent; and which keys the one that is signed in may touch.

import { describe, expect, test } from "bun:test";
import { toNanos } from "../../../console/api/amount.ts";
import {
  bodyOf,
  fieldsOf,
  NEW_KEY,
  UNFINISHED,
  unreadable,
  withoutCaps,
} from "../../../console/pages/keys/api-key-fields.ts";
import {
  type ApiKeyRow,
  apiKeyStateOf,
  type Caller,
  givableScopes,
  mayTouch,
  type Scope,
} from "../../../console/pages/keys/key-rights.ts";

const row = (fields: Partial<ApiKeyRow>): ApiKeyRow =>
  ({
    ...{ id: 3, name: "ci", public_key: "pk-3", scopes: ["invoke"], status: true, expires_at: null },
    ...{ allow_models: [], allow_ips: [], resources: [], tags: {}, rpm: 0, tpm: 0 },
    ...{ hard_limit: toNanos(0n), daily_limit: toNanos(0n) },
    ...fields,
  }) as ApiKeyRow;

describe("the form of a key", () => {
  test("sends of a new key its name, its scopes and what was filled in", () => {
    const typed = { ...NEW_KEY, name: " ci ", dailyLimit: "2.5", allowModels: "gpt-* o4-mini", tpm: "9000" };
    expect(bodyOf(typed, NEW_KEY)).toEqual({
      ...{ Name: "ci", Scopes: ["invoke"], DailyLimit: toNanos(2_500_000_000n), TPM: 9_000 },
      AllowModels: "* gpt-* o4-mini",
    });
  });

  test("sends of a key that exists what was changed alone, an empty limit as none", () => {
    const before = fieldsOf(
      row({
        daily_limit: toNanos(5n),
        rpm: 60,
        tags: { team: "a", env: "ci" },
        expires_at: "2027-03-27T00:00:00.000Z",
      }),
    );
    expect(before).toMatchObject({
      dailyLimit: "0.000000005",
      tags: "team=a,env=ci",
      expires: "2027-03-27T00:00",
    });
    expect(bodyOf(before, before)).toBeNull();
    expect(bodyOf({ ...before, rpm: "", expires: "" }, before)).toEqual({ RPM: 0, ExpiresAt: null });
    expect(bodyOf({ ...before, expires: "2027-04-01T12:30" }, before)).toEqual({
      ExpiresAt: "2027-04-01T12:30Z",
    });
  });

  test("is not sent while a field cannot be read", () => {
    const wrong = { ...NEW_KEY, name: "", scopes: [], hardLimit: "1,5", dailyLimit: "-1", rpm: "1.5" };
    expect(unreadable(wrong)).toEqual(["name", "scopes", "hardLimit", "dailyLimit", "rpm"]);
    expect(bodyOf(wrong, NEW_KEY)).toBeNull();
    const unfinished = { ...NEW_KEY, name: "ci", expires: UNFINISHED };
    expect(unreadable(unfinished)).toEqual(["expires"]);
    expect(bodyOf(unfinished, NEW_KEY)).toBeNull();
  });

  test("takes no caps beside manage", () => {
    const typed = {
      ...NEW_KEY,
      name: "ops",
      scopes: ["read", "manage"] as Scope[],
      hardLimit: "5",
      allowIps: "10.0.0.0/8",
    };
    expect(withoutCaps(typed)).toMatchObject({ hardLimit: "", allowIps: "10.0.0.0/8" });
    expect(bodyOf(typed, NEW_KEY)).toEqual({
      ...{ Name: "ops", Scopes: ["read", "manage"], AllowIPs: "10.0.0.0/8" },
    });
  });
});

describe("the key that is signed in", () => {
  const caller: Caller = { scopes: ["read", "manage"], isMain: false, isOwn: true, publicKey: "pk-9" };
  const main: Caller = {
    scopes: ["invoke", "read", "manage", "admin"],
    isMain: true,
    isOwn: true,
    publicKey: "pk-0",
  };

  test("touches neither the main key, nor itself, nor one with a scope that it lacks", () => {
    expect(mayTouch(main, row({ id: 0 }))).toBe(false);
    expect(mayTouch(caller, row({ scopes: ["read"], public_key: "pk-9" }))).toBe(false);
    expect(mayTouch(caller, row({ scopes: ["invoke"] }))).toBe(false);
    expect(mayTouch(caller, row({ scopes: ["read"] }))).toBe(true);
    expect(mayTouch(main, row({ scopes: ["admin", "manage"] }))).toBe(true);
  });

  test("gives administration in its own account alone", () => {
    expect(givableScopes(main)).toContain("admin");
    expect(givableScopes({ ...main, isOwn: false })).toEqual(["invoke", "read", "manage"]);
    expect(givableScopes(caller)).toEqual(["read", "manage"]);
  });

  test("sees how another one stands", () => {
    const at = Date.UTC(2027, 2, 18);
    const states = [{}, { status: false }, { expires_at: "2027-03-17T00:00:00.000Z" }];
    expect(states.map((fields) => apiKeyStateOf(row(fields), at))).toEqual(["active", "disabled", "expired"]);
  });
});
