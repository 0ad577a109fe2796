// The pool: its Levels, what the form of a key sends, and the providers that it offers.

import { describe, expect, test } from "bun:test";
import catalog from "../../../../actors/catalog/providers.json";
import {
  addingBody,
  changingBody,
  draftOf,
  mappingOf,
  newDraft,
  refusedField,
} from "../../../../console/pages/admin/pool/key-draft.ts";
import { KNOWN_PROVIDERS } from "../../../../console/pages/admin/pool/known-providers.ts";
import { type KeyEvent, type KeyRow, levelsOf } from "../../../../console/pages/admin/pool/levels.ts";

const SECRET = "sk-a-secret-of-a-provider";

const row = (fields: Partial<KeyRow>): KeyRow =>
  ({
    ...{ ID: 4, Name: "main", Level: 1, Provider: "https://api.openai.com/v1", SecretKey: "sk-…ider" },
    ...{ Status: true, Config: {}, State: "normal" },
    ...fields,
  }) as KeyRow;

test("offered providers have the addresses of the service's catalog", () => {
  const bases = new Map(catalog.map(({ provider, base }) => [provider, base]));
  for (const { id, base } of KNOWN_PROVIDERS) expect([id, bases.get(id)]).toEqual([id, base]);
});

describe("Levels", () => {
  const conf = { LevelMapper: { "gpt-*": 1, "*": 3 }, SwitchOver: { "1": 2 } };
  const keys = [
    row({ ID: 1 }),
    row({ ID: 2, State: "sleeping" }),
    row({ ID: 3, Level: 9, State: "disabled" }),
  ];

  test("are those with keys and those to which an entry leads; keys that need somebody come first", () => {
    const levels = levelsOf(keys, conf);
    expect(levels.map(({ level, keys: all }) => [level, all.map(({ ID }) => ID)])).toEqual([
      [1, [2, 1]],
      [2, []],
      [3, []],
      [9, [3]],
    ]);
    expect(levels[0]).toMatchObject({ patterns: ["gpt-*"], backup: 2, isBackup: false, switchedUntil: null });
    expect(levels[1]).toMatchObject({ patterns: [], backup: null, isBackup: true });
  });

  test("are switched over until the newest switch-over ends", () => {
    const until = "2027-03-18T12:00:30.000Z";
    const events = [{ type: "switch_over", level: 1, until }] as unknown as KeyEvent[];
    expect(levelsOf(keys, conf, events, Date.parse(until) - 1)[0]!.switchedUntil).toBe(until);
    expect(levelsOf(keys, conf, events, Date.parse(until))[0]!.switchedUntil).toBeNull();
  });
});

describe("the form of a key", () => {
  test("sends nothing while a field that it needs is empty", () => {
    const draft = { ...newDraft("2"), provider: " https://api.openai.com/v1 ", secret: SECRET };
    expect(addingBody(draft)).toEqual({
      Level: 2,
      Provider: "https://api.openai.com/v1",
      SecretKey: SECRET,
    });
    for (const missing of [{ secret: " " }, { provider: "" }, { level: "two" }]) {
      expect(addingBody({ ...draft, ...missing })).toBeNull();
    }
  });

  test("sends of a kept key only what differs, and never its mask", () => {
    const known = row({ Config: { provider_type: "cloud_b", project_id: "p", private_key: "---…EY--" } });
    const draft = draftOf(known);
    expect(changingBody(draft, known)).toBeNull();
    expect(changingBody({ ...draft, projectId: "q", name: "other" }, known)).toEqual({
      Name: "other",
      Config: { project_id: "q" },
    });
    expect(changingBody({ ...draft, privateKey: "new" }, known)).toEqual({ Config: { private_key: "new" } });
  });

  test("leaves alone what others changed since it began", () => {
    const began = row({ Level: 1, Status: true });
    const now = row({ Level: 2, Status: false });
    const draft = { ...draftOf(began), name: "other" };
    expect(changingBody(draft, began)).toEqual({ Name: "other" });
    expect(changingBody(draftOf(now), now)).toBeNull();
  });

  test("takes away what belonged to another type", () => {
    const known = row({ Config: { provider_type: "cloud_a", model_mapping: { "*": "all" } } });
    expect(changingBody({ ...draftOf(known), type: "standard" }, known)).toEqual({
      Config: { provider_type: null, model_mapping: null },
    });
  });

  test("reads deployments line by line", () => {
    expect(mappingOf("gpt-4o = team-4o\n\n*=rest")).toEqual({ "gpt-4o": "team-4o", "*": "rest" });
    expect(mappingOf("gpt-4o")).toBeNull();
  });

  test("finds the field that a refusal is about", () => {
    expect(refusedField("invalid_parameter", '"Config.api_style" must be "chat" or "messages".')).toBe(
      "Config.api_style",
    );
    expect(refusedField("forbidden_provider_address", "It leads into a private network.")).toBe("Provider");
    expect(refusedField("invalid_parameter", "Something else.")).toBeNull();
  });
});
