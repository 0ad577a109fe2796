// The history of a configuration: one row for each version, kept in a ring, without secrets; and the way back to each
// version that is kept, exactly.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { AccountId } from "../../../actors/ids.ts";
import type { SealedSecret } from "../../../actors/key-pool/provider-key.ts";
import type { Nano } from "../../../actors/money.ts";
import { type ConfigRow, HISTORY_ROWS_MAX, reversionTo } from "../../../actors/owner/history.ts";
import { type OwnerCommand, type OwnerConfig, owner } from "../../../actors/owner/owner.ts";

const BY = 7 as AccountId;
const SEALED = "a sealed box" as unknown as SealedSecret;

type Configure = Omit<Extract<OwnerCommand, { type: "configure" }>, "type" | "by">;

function configAt(config: OwnerConfig, rows: readonly ConfigRow[], version: number) {
  const way = reversionTo(config, version);
  for (const row of rows) way.take(row);
  return way.change();
}

/** An actor whose rows are stored as a store would: the newer one of the same id stays. */
function living() {
  let state = owner.empty("2");
  const stored = new Map<string, ConfigRow>();
  let now = 1_000;
  return {
    configure(given: Partial<Configure>): OwnerConfig {
      now++;
      const command = { type: "configure", change: {}, by: BY, ...given } as const;
      const decision = owner.decide(state, command, { id: "t", from: "", now, epoch: 1, done: false });
      for (const event of decision.events ?? []) owner.evolve(state, event, now);
      return state.config;
    },
    save() {
      for (const { table, id, body } of owner.materialize(state)) {
        expect(table).toBe("configs");
        stored.set(id, JSON.parse(JSON.stringify(body)));
      }
    },
    restart() {
      state = owner.thaw("2", JSON.parse(JSON.stringify(owner.freeze(state))));
    },
    config: () => state.config,
    rows: () => [...stored.values()].toSorted((a, b) => b.version - a.version),
    stored,
  };
}

describe("a row", () => {
  test("says who made the version, when, and what really changed", () => {
    const one = living();
    one.configure({ change: { modelMapper: { a: "b", c: "d" }, resources: ["/v1/*"] } });
    one.configure({
      change: { modelMapper: { c: "d", a: "b" }, resources: [], emailPort: 25, userMinBalance: 5 as Nano },
    });
    one.save();
    expect(one.rows()[0]).toEqual({
      owner: 2,
      version: 2,
      at: 1_002,
      by: BY,
      changes: {
        resources: { before: ["/v1/*"], after: [] },
        emailPort: { before: null, after: 25 },
        userMinBalance: { before: 0, after: 5 },
      },
    });
    expect(one.rows()[1]).toMatchObject({ version: 1, at: 1_001 });
  });

  test("has the whole map that an edit changed, and the cascade", () => {
    const one = living();
    one.configure({ change: { modelMapper: { a: "b" } } });
    const modelMapper = { clear: false, changes: [{ pattern: "c", value: "d" }] };
    one.configure({ edits: { modelMapper }, cascade: { fields: ["modelMapper"], root: 3 } });
    one.save();
    const { changes } = one.rows()[0]!;
    expect(Object.keys(changes).toSorted()).toEqual(["cascades", "modelMapper"]);
    expect(changes.modelMapper).toEqual({ before: { a: "b" }, after: { a: "b", c: "d" } });
    expect(changes.cascades?.after).toMatchObject({
      modelMapper: { entries: { c: { value: "d", at: 2, root: 3 } } },
    });
  });

  test("of a version that changed nothing is there all the same", () => {
    const one = living();
    one.configure({});
    one.save();
    expect(one.rows()).toMatchObject([{ version: 1, changes: {} }]);
  });

  test("never has a password, sealed or not, only whether there is one", () => {
    const one = living();
    one.configure({ change: { emailPass: SEALED } });
    one.configure({ change: { emailPass: "another box" as unknown as SealedSecret } });
    one.configure({ change: { emailPass: null } });
    one.save();
    expect(one.rows().map(({ changes }) => changes)).toEqual([
      { emailPass: { before: true, after: false } },
      { emailPass: { before: true, after: true } },
      { emailPass: { before: false, after: true } },
    ]);
    expect(JSON.stringify(one.rows())).not.toContain("box");
  });

  test("is written once, and again after a crash that lost it", () => {
    const events: Parameters<typeof owner.evolve>[1][] = [
      { type: "configured", version: 1, change: { resources: ["/v1/a"] }, by: BY },
      { type: "configured", version: 2, change: { resources: ["/v1/b"] }, by: BY },
    ];
    const state = owner.empty("2");
    owner.evolve(state, events[0]!, 5);
    const first = owner.materialize(state);
    const snapshot = JSON.parse(JSON.stringify(owner.freeze(state)));
    owner.evolve(state, events[1]!, 6);
    const second = owner.materialize(state);
    expect([first, second].map((documents) => documents.map(({ id }) => id))).toEqual([["2/1"], ["2/2"]]);
    expect(owner.materialize(state)).toEqual([]);

    const after = owner.thaw("2", snapshot);
    expect(owner.materialize(after)).toEqual([]);
    owner.evolve(after, events[1]!, 6);
    expect(owner.materialize(after)).toEqual(second);
  });

  test("takes the place of the oldest one once 1000 are kept", () => {
    const one = living();
    for (let i = 0; i < HISTORY_ROWS_MAX + 2; i++) one.configure({});
    one.save();
    expect(one.stored.size).toBe(HISTORY_ROWS_MAX);
    expect(one.rows().at(-1)?.version).toBe(3);
    expect(one.rows()[0]?.version).toBe(HISTORY_ROWS_MAX + 2);
  });
});

describe("the way back", () => {
  function three() {
    const one = living();
    one.configure({ change: { resources: ["/v1/a"], logEnable: false } });
    one.configure({ change: { resources: ["/v1/b"], emailPass: SEALED } });
    one.configure({ change: { resources: ["/v1/c"], serviceMail: "a@b.example" } });
    one.save();
    return one;
  }

  test.each([
    [3, {}],
    [2, { resources: ["/v1/b"], serviceMail: "" }],
    [1, { resources: ["/v1/a"], serviceMail: "" }],
    [0, { resources: [], logEnable: true, serviceMail: "" }],
  ])("to version %d names what has changed since, and never the password", (version, change) => {
    const one = three();
    expect(configAt(one.config(), one.rows(), version)).toEqual({ ok: true, value: change });
  });

  test("does not mind rows of other versions, nor rows twice", () => {
    const one = three();
    const rows = one.rows().toReversed();
    one.configure({ change: { resources: [] } });
    one.save();
    const before = { ...one.config(), version: 3 };
    expect(configAt(before, [...one.rows(), ...rows], 2)).toMatchObject({ value: { resources: ["/v1/b"] } });
  });

  test.each([1, 2, 3])("is refused where the row of version %d is missing", (missing) => {
    const one = three();
    const rows = one.rows().filter(({ version }) => version !== missing);
    expect(configAt(one.config(), rows, 0)).toEqual({
      ok: false,
      message: `what version ${missing} changed is no longer kept`,
    });
    expect(configAt(one.config(), rows, missing).ok).toBe(true);
  });

  test.each([4, -1, 1.5, Number.NaN])("to version %d, which there is none of, is refused", (version) => {
    const one = three();
    expect(configAt(one.config(), one.rows(), version)).toEqual({
      ok: false,
      message: `there is no version ${version}`,
    });
  });
});

// ---- every version, exactly

const names = fc.constantFrom("a", "b*", "constructor");
const edits = <T>(value: fc.Arbitrary<T>) =>
  fc.record({
    clear: fc.boolean(),
    changes: fc.array(fc.record({ pattern: names, value: fc.option(value, { nil: null }) }), {
      maxLength: 3,
    }),
  });
const limits = fc.dictionary(fc.constantFrom("rpm", "tpd"), fc.nat(9));
const fields = fc.subarray(["modelMapper", "modelLimits"] as const);
const configuring = fc.record(
  {
    change: fc.record(
      {
        modelMapper: fc.dictionary(names, names),
        levelMapper: fc.dictionary(names, fc.nat(3)),
        resources: fc.subarray(["/v1/a", "/v1/b"]),
        emailPort: fc.option(fc.nat(99), { nil: null }),
        emailPass: fc.constantFrom(null, SEALED),
        logEnable: fc.boolean(),
        userMinBalance: fc.nat(5) as unknown as fc.Arbitrary<Nano>,
      },
      { requiredKeys: [] },
    ),
    edits: fc.record(
      { modelMapper: edits(names), modelLimits: edits(limits), modelFailover: edits(fc.array(names)) },
      { requiredKeys: [] },
    ),
    cascade: fc.record({ fields, root: fc.nat(9) }),
  },
  { requiredKeys: ["change"] },
);
type Given = Partial<Configure>;

const bare = ({ emailPass: _, version: __, ...rest }: OwnerConfig) => rest;

test("leads to each version as it was, through restarts and former ways back, and keeps the password", () => {
  const steps = fc.array(fc.record({ given: configuring, restart: fc.boolean(), back: fc.boolean() }), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(steps, (given) => {
      const one = living();
      const versions: OwnerConfig[] = [structuredClone(one.config())];
      const keep = () => versions.push(structuredClone(one.config()));
      const back = (version: number) => {
        const found = configAt(one.config(), one.rows(), version);
        if (!found.ok) throw new Error(found.message);
        return one.configure({ change: found.value, version: one.config().version });
      };
      for (const step of given) {
        one.configure(step.given as Given);
        keep();
        one.save();
        if (step.restart) one.restart();
        if (!step.back) continue;
        back(Math.floor(versions.length / 2));
        keep();
        one.save();
      }
      for (const [version, was] of versions.entries()) {
        const pass = one.config().emailPass;
        const now = back(version);
        expect(bare(now)).toEqual(bare(was));
        expect(now.emailPass).toEqual(pass);
        one.save();
      }
    }),
    { numRuns: 200 },
  );
});
