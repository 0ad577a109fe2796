// No key gives more than it has: every pair of calling key and target, and the bounds of addresses and time.

import { describe, expect, test } from "bun:test";
import type { ApiKeySettings, Scope } from "../../../actors/api-key/api-key.ts";
import { SCOPES } from "../../../actors/api-key/api-key.ts";
import { escalation, isInScope, settingsRefusal, touchRefusal } from "../../../actors/api-key/confinement.ts";
import type { AccountId, ApiKeyId } from "../../../actors/ids.ts";
import { NOON, usd } from "../account-samples.ts";
import { callerOf, settingsOf } from "../api-key-samples.ts";

/** All sets of scopes that a key may have. */
const SETS = Array.from({ length: 2 ** SCOPES.length }, (_, bits) =>
  SCOPES.filter((_, i) => (bits >> i) % 2 === 1),
);
const scopesOf = (text: string): Scope[] => (text === "" ? [] : (text.split(" ") as Scope[]));

describe("a scope", () => {
  test("contains no other one", () => {
    for (const own of SCOPES) {
      for (const asked of SCOPES) expect(isInScope([own], asked)).toBe(own === asked);
    }
  });

  test("is all that the main key needs none of, and of which no named key has the main key's", () => {
    for (const asked of [...SCOPES, "none", "main_key"] as const) expect(isInScope(null, asked)).toBe(true);
    expect(isInScope([], "none")).toBe(true);
    expect(isInScope(SCOPES, "main_key")).toBe(false);
  });

  test("admin is given only beside manage, and only in an Owner's account", () => {
    for (const scopes of SETS) {
      const lacksManage = scopes.includes("admin") && !scopes.includes("manage");
      const ofOwner = settingsRefusal(settingsOf({ scopes }), true)?.code ?? null;
      expect([scopes, ofOwner]).toEqual([scopes, lacksManage ? "invalid_parameter" : null]);
      const ofOther = settingsRefusal(settingsOf({ scopes }), false)?.code ?? null;
      expect([scopes, ofOther]).toEqual([scopes, scopes.includes("admin") ? "invalid_parameter" : null]);
    }
  });

  test.each<[string, Partial<ApiKeySettings>]>([
    ["HardLimit", { hardLimit: usd(1) }],
    ["DailyLimit", { dailyLimit: usd(1) }],
    ["RPM", { rpm: 1 }],
    ["TPM", { tpm: 1 }],
    ["AllowModels", { allowModels: ["m"] }],
    ["Resources", { resources: ["/v1/embeddings"] }],
  ])("manage goes without %s, which the refusal names", (name, cap) => {
    expect(settingsRefusal(settingsOf(cap), false)).toBeNull();
    const refused = settingsRefusal(settingsOf({ ...cap, scopes: ["manage"] }), false);
    expect([refused?.code, refused?.message.startsWith(`"${name}"`)]).toEqual(["invalid_parameter", true]);
  });

  test("manage goes with AllowIPs, ExpiresAt and tags", () => {
    const over = { allowIps: ["10.0.0.1"], expiresAt: NOON, tags: { team: "search" } };
    expect(settingsRefusal(settingsOf({ scopes: ["manage"], ...over }), false)).toBeNull();
  });
});

describe("of a calling key and a target", () => {
  test("each pair is decided by the scopes that the target has and the calling key lacks", () => {
    for (const by of SETS) {
      for (const scopes of SETS) {
        const caller = callerOf({ apiKey: 1 as ApiKeyId, name: "caller", scopes: by });
        const target = { account: caller.account, id: 2 as ApiKeyId, scopes };
        const expected = scopes.every((scope) => by.includes(scope)) ? null : "scope_missing";
        const found = [
          touchRefusal(caller, target)?.code ?? null,
          escalation(caller, settingsOf({ scopes }))?.code ?? null,
        ];
        expect([by, scopes, ...found]).toEqual([by, scopes, expected, expected]);
      }
    }
  });

  test("the refusal names the scope that is lacked", () => {
    const refused = escalation(callerOf({ scopes: ["manage"] }), settingsOf({ scopes: ["manage", "read"] }));
    expect(refused?.message).toContain('"read"');
  });

  test("a key never touches itself; the same id in another account is another key", () => {
    const scopes = scopesOf("manage");
    const by = callerOf({ apiKey: 3 as ApiKeyId, name: "manager", scopes });
    const own = { account: by.account, id: 3 as ApiKeyId, scopes };
    expect(touchRefusal(by, own)?.code).toBe("field_not_settable");
    expect(touchRefusal(by, { ...own, account: 8 as AccountId })).toBeNull();
  });
});

describe("the calling key's ExpiresAt bounds that of every key it makes, changes or rotates:", () => {
  test.each([
    ["none of a caller without one", null, null, true],
    ["any of a caller without one", null, NOON, true],
    ["the same", NOON, NOON, true],
    ["an earlier one", NOON, NOON - 1, true],
    ["a later one by a ms", NOON, NOON + 1, false],
    ["none of a caller with one", NOON, null, false],
  ])("%s", (_what, own, asked, allowed) => {
    const refused = escalation(callerOf({ expiresAt: own }), settingsOf({ expiresAt: asked }));
    expect(refused?.code ?? null).toBe(allowed ? null : "invalid_parameter");
  });
});

describe("the calling key's AllowIPs bound those of every key it makes, changes or rotates:", () => {
  test.each([
    ["any of a caller without any", "", "10.0.0.1", true],
    ["none of a caller with some", "10.0.0.0/8", "", false],
    ["an address within a range", "10.0.0.0/8", "10.1.2.3", true],
    ["a range within a range", "10.0.0.0/8", "10.1.0.0/16", true],
    ["the same range", "10.0.0.0/8", "10.0.0.0/8", true],
    ["a wider range", "10.0.0.0/8", "10.0.0.0/7", false],
    ["a range beside", "10.0.0.0/8", "11.0.0.0/8", false],
    ["one of two beside", "10.0.0.0/8", "10.0.0.1 11.0.0.1", false],
    ["each within another", "10.0.0.0/8 192.0.2.1", "192.0.2.1 10.9.9.9", true],
    ["IPv6 within IPv6", "2001:db8::/32", "2001:db8:1::/48", true],
    ["IPv6 beside IPv4", "0.0.0.0/0", "2001:db8::1", false],
    ["an IPv4-mapped address, which is IPv4", "10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["all of IPv6, which is no IPv4", "10.0.0.0/8", "::/0", false],
  ])("%s", (_what, own, asked, allowed) => {
    const list = (text: string) => (text === "" ? [] : text.split(" "));
    const refused = escalation(callerOf({ allowIps: list(own) }), settingsOf({ allowIps: list(asked) }));
    expect(refused?.code ?? null).toBe(allowed ? null : "invalid_parameter");
  });
});
