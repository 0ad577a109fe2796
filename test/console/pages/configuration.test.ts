// Settings and limits of models as their forms edit them: what is sent is what differs, and limits hold as the service decides.

import { describe, expect, test } from "bun:test";
import { DEFAULT_CONFIG } from "../../../actors/owner/config.ts";
import { parseModelLimits } from "../../../actors/owner/map-edit-parsers.ts";
import { applyEdits } from "../../../actors/owner/map-edits.ts";
import { pick } from "../../../actors/pattern.ts";
import { toNanos } from "../../../console/api/amount.ts";
import {
  gridRows,
  holdingLimits,
  type LimitEdits,
  type LimitMap,
  limitsBody,
  limitsOfRows,
} from "../../../console/pages/admin/model-limits/limit-draft.ts";
import {
  SETTING_GROUPS,
  SETTINGS,
  settingsDraft,
  settingText,
} from "../../../console/pages/admin/settings/setting-fields.ts";
import { limitsFor } from "../../../src/gateway/routing/route.ts";
import { KEY_NAMES, KEYS, settingsShape } from "../../../src/http/configuration/config-fields.ts";

/** Keys that have pages of their own. */
const ELSEWHERE = [
  ...["MODEL_MAPPER", "LEVEL_MAPPER", "SWITCH_OVER", "MODEL_FAILOVER"],
  ...["MODEL_LIMITS", "PRICING"],
];

describe("settings", () => {
  const settings = {
    ...{ RESOURCES: { "/v1/chat/*": {}, "/v1/embeddings": {} }, USER_API_BALANCE: toNanos(2_500_000_000n) },
    ...{ EMAIL_PASS: "********", EMAIL_TLS: true, EMAIL_PORT: "465", SERVICE_MAIL: "" },
  };

  test("every key of the service is here or has a page of its own, with the service's default", () => {
    const here = Object.values(SETTING_GROUPS).flat();
    expect([...here, ...ELSEWHERE].sort()).toEqual([...KEY_NAMES].sort());
    const defaults = settingsShape(here, DEFAULT_CONFIG);
    for (const name of here) {
      const value = defaults[name];
      const shown = typeof value === "number" ? toNanos(BigInt(value)) : value;
      expect([name, settingText(name, { [name]: shown })]).toEqual([name, SETTINGS[name].defaultText]);
      expect(KEYS[name]).toBeDefined();
    }
  });

  test("what says the same is not sent", () => {
    const typed = {
      ...{ RESOURCES: " /v1/chat/*,/v1/embeddings ", USER_API_BALANCE: "2.50", EMAIL_TLS: "true" },
      EMAIL_PORT: " 465 ",
    };
    expect(settingsDraft(typed, settings)).toEqual({ body: {}, unreadable: [] });
  });

  test("what differs is sent as the service takes it, and what cannot be read is named", () => {
    const typed = { EMAIL_TLS: "false", USER_MIN_BALANCE: "0.1", EMAIL_PASS: "", EMAIL_PORT: "x" };
    const { body, unreadable } = settingsDraft(typed, settings);
    expect(body).toEqual({
      ...{ EMAIL_TLS: false, USER_MIN_BALANCE: 100_000_000n, EMAIL_PASS: "", EMAIL_PORT: undefined },
    });
    expect(unreadable).toEqual(["EMAIL_PORT"]);
    expect(settingsDraft({ USER_API_BALANCE: "-1" }, settings).unreadable).toEqual(["USER_API_BALANCE"]);
  });
});

describe("limits of models", () => {
  const saved = { "gpt-4o": { rpm: 600, tpd: 9_000_000 }, "o4-*": { rph: 50 } };
  const body = (edits: LimitEdits) => limitsBody(gridRows(saved, edits));

  test("what is changed or new is sent alone, in a merge", () => {
    expect(body({ "gpt-4o": { rpm: "1,200" }, "gpt-*": { tpm: "5" } })).toEqual({
      "gpt-4o": { rpm: 1_200, tpd: 9_000_000 },
      "gpt-*": { tpm: 5 },
    });
  });

  test("where an entry goes, the whole map is sent as a text that replaces it", () => {
    expect(body({ "o4-*": null })).toBe('{"gpt-4o":{"rpm":600,"tpd":9000000}}');
  });

  test.each([
    ["a figure changes and another comes", { "gpt-4o": { rpm: "700", rph: "8" } }],
    ["a figure goes", { "gpt-4o": { tpd: "" } }],
    [
      "a figure goes where another one changes",
      { "gpt-4o": { rpm: "700", tpd: " " }, "gpt-*": { tpm: "5" } },
    ],
    ["all figures of an entry go", { "o4-*": { rph: "" } }],
    ["an entry goes", { "o4-*": null, "gpt-*": { tpm: "5" } }],
  ] as const)("the service comes to what the grid shows where %s", (_, edits) => {
    const sent = parseModelLimits(JSON.parse(JSON.stringify(body(edits))));
    if (!sent.ok) throw new Error(sent.message);
    expect(applyEdits<LimitMap[string]>(saved, sent.value)).toEqual(limitsOfRows(gridRows(saved, edits)));
  });

  test("nothing is sent for the same limits, nor while a cell cannot be read", () => {
    expect(body({ "gpt-4o": { rpm: "600", tpd: "9,000,000" } })).toBeNull();
    for (const text of ["1,5", "-1", "1.5", "9007199254740993"]) {
      expect(body({ "gpt-4o": { rpm: text }, "o4-*": { rph: "7" } })).toBeNull();
    }
  });

  test("a removed row is shown until it is saved, a new one that is removed is not", () => {
    const rows = gridRows(saved, { "o4-*": null, new: null });
    expect(rows.map(({ pattern, state }) => `${pattern} ${state}`)).toEqual(["gpt-4o saved", "o4-* removed"]);
    expect(limitsOfRows(rows)).toEqual({ "gpt-4o": saved["gpt-4o"] });
  });

  test.each([
    ["an account's entry", { "gpt-4o": { rpm: 5 } }],
    ["an entry of an account that takes a limit away", { "gpt-*": { rpm: 0, tpm: 9 } }],
    ["no entry of the account", {}],
    ["an entry for another model", { "claude-*": { rpm: 5 } }],
  ])("what holds is what the service decides: %s", (_, ofAccount) => {
    const ofOwner = { "gpt-*": { rpm: 1, rpd: 7 }, "gpt-4o": { rpm: 600, tpd: 9 } };
    const map = {
      find: (name: string) => {
        const hit = pick<object>(ofAccount, name);
        return hit && { ...hit, from: "own" as const };
      },
      all: () => ofAccount,
    };
    for (const model of ["gpt-4o", "gpt-5", "other"]) {
      const decided = limitsFor(model, map as Parameters<typeof limitsFor>[1], ofOwner);
      const { limits } = holdingLimits(model, ofAccount, ofOwner);
      const shown = Object.fromEntries(
        Object.entries(limits).map(([name, holding]) => [name, holding?.limit ?? 0]),
      );
      expect(shown).toEqual({ ...(decided ?? { rpm: 0, rph: 0, rpd: 0, tpm: 0, tph: 0, tpd: 0 }) });
    }
  });
});
