// Rules of grouped usage: by model, API key, tag and account, of days and of hours. Every grouping adds up to the same total, to
// the nano-dollar, whatever is kept apart, wherever accounts were moved to, and however far what is derived from the ledger
// trails it or is ahead of a usage document.

import { describe, expect, test } from "bun:test";
import type {
  Commit,
  Store,
  UsageGroup,
  UsageGrouping,
  UsageReportQuery,
  UsageSums,
} from "../../src/store/store.ts";
import { commit, document, save } from "./store-samples.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.parse("2026-01-31T20:00:00Z");
/** Looks, 20 ms apart, until lines are projected. */
const LOOKS_MAX = 500;

interface Charge {
  readonly at: number;
  readonly model: string;
  readonly apiKey: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly n: number;
}

const eventOf = ({ model, apiKey, tags, n }: Charge, id: string) => ({
  ...{ type: "charge", id, model, amount: -10 * n, cost: 10 * n, prompt: n, completion: 2 * n },
  usage: { inCached: 3 * n, inCacheWrite: n, inCacheWrite1h: 3 * n, outReason: 5 * n },
  ...(apiKey === 0 ? {} : { apiKey, apiKeyName: `key ${apiKey}` }),
  ...(Object.keys(tags).length === 0 ? {} : { tags }),
});

const sumsOf = (charges: readonly Charge[]): UsageSums => {
  const n = charges.reduce((sum, charge) => sum + charge.n, 0);
  const tokens = { prompt: n, completion: 2 * n, cached: 3 * n, cacheWrite: 4 * n, reasoning: 5 * n };
  return { requests: charges.length, ...tokens, cost: BigInt(10 * n) };
};

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
const hourOf = (at: number): string => `H${new Date(at).toISOString().slice(0, 13)}`;

/** One account: its charges, one per commit but for the first, and where it is on which day. */
class Ledger {
  readonly charges: Charge[] = [];

  constructor(
    readonly account: number,
    public dna: string,
  ) {}

  get actor(): string {
    return `account/${this.account}`;
  }

  /** The commits of further charges; two of them each, and one without lines between them. */
  commitsOf(charges: readonly Charge[]): Commit[] {
    const commits: Commit[] = [];
    for (let i = 0; i < charges.length; i += 2) {
      const some = charges.slice(i, i + 2);
      const from = this.charges.length;
      this.charges.push(...some);
      const at = some.at(-1)!.at;
      const events = some.map((one, j) => ({
        at: one.at,
        line: true,
        e: eventOf(one, `${this.actor} ${from + j + 1}`),
      }));
      const seq = from + 1;
      commits.push(commit(this.actor, seq, { at, linesTo: this.charges.length, lines: some.length, events }));
      if (some.length < 2) break;
      commits.push(
        commit(this.actor, seq + 1, { at, linesTo: this.charges.length, lines: 0, events: [], by: "none" }),
      );
    }
    return commits;
  }

  get seq(): number {
    return this.charges.length + (this.charges.length % 2);
  }

  /** A save of everything so far; `days` are those whose documents are written. */
  save(days: readonly string[]) {
    const documents = days.map((day) => {
      const own = this.charges.filter(({ at }) => dayOf(at) === day);
      const models = Object.fromEntries(
        [...Map.groupBy(own, ({ model }) => model)].map(([model, some]) => {
          const sums = sumsOf(some);
          return [model, { ...sums, cost: Number(sums.cost) }];
        }),
      );
      const body = { account: this.account, dna: this.dna, day, models };
      return document("usage", `${this.account}/${day}`, this.seq, body);
    });
    return save(this.actor, this.seq, documents, { linesTo: this.charges.length });
  }
}

/** A seeded random number generator. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** What a group is of, as text, and its sums. */
const shown = (groups: readonly UsageGroup[]): Record<string, string> =>
  Object.fromEntries(
    groups.map(({ id, account, sums }) => [
      `${account === undefined ? "" : `${account}:`}${id}`,
      JSON.stringify(sums, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ]),
  );

/** The groups of these charges, where everything is kept apart. */
function expected(charges: readonly (Charge & { readonly account: number })[], grouping: UsageGrouping) {
  const groupOf = (one: Charge & { readonly account: number }): string => {
    switch (grouping.by) {
      case "all":
        return "(all)";
      case "model":
        return one.model;
      case "account":
        return String(one.account);
      case "api_key":
        return `${one.account}:${one.apiKey}`;
      case "tag":
        // An object has a field `__proto__` that is none of its own.
        return Object.hasOwn(one.tags, grouping.name) ? one.tags[grouping.name]! : "(none)";
    }
  };
  return Object.fromEntries(
    [...Map.groupBy(charges, groupOf)].map(([group, some]) => [
      group,
      JSON.stringify(sumsOf(some), (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ]),
  );
}

const GROUPINGS: readonly UsageGrouping[] = [
  { by: "all" },
  { by: "model" },
  { by: "account" },
  { by: "api_key" },
  { by: "tag", name: "team" },
  { by: "tag", name: "__proto__" },
  { by: "tag", name: "unused" },
];

const total = (groups: readonly UsageGroup[]): string => {
  const sums = groups.map((one) => Object.values(one.sums).map(BigInt));
  return [0, 1, 2, 3, 4, 5, 6].map((i) => sums.reduce((sum, one) => sum + one[i]!, 0n)).join(" ");
};

export function groupRules(store: () => Store): void {
  const report = (query: Partial<UsageReportQuery>) =>
    store().usageReport({
      ...{ accounts: { dna: "." }, from: "2026-01-01", to: "2026-12-31", accountFields: [] },
      ...query,
    });

  /** Waits until all lines of these accounts are projected. */
  async function projected(ledgers: readonly Ledger[]): Promise<void> {
    let looks = 0;
    for (const { actor, charges } of ledgers) {
      for (;;) {
        const [newest] = (await store().lines({ actor }, null, 1)).lines;
        if ((newest?.number ?? 0) >= charges.length || looks++ > LOOKS_MAX) break;
        await Bun.sleep(20);
      }
    }
  }

  const random = randomOf(7);
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const charge = (at: number): Charge => ({
    ...{ at, model: pick(["m", "n", "ø"]), apiKey: pick([0, 0, 1, 2, 70]), n: 1 + random(1_000) },
    tags: JSON.parse(pick(["{}", "{}", '{"team":"a"}', '{"team":"b b","env":"x"}', '{"__proto__":"p"}'])),
  });
  const chargesFrom = (at: number, count: number, stepMs: number): Charge[] =>
    Array.from({ length: count }, (_, i) => charge(at + i * stepMs));

  describe("groups of usage", () => {
    test("of several accounts are what their charges amount to, by everything and by hour", async () => {
      const ledgers = [2, 7, 70].map((id) => new Ledger(id, { 2: ".1.", 7: ".1.2.", 70: ".1.2.7." }[id]!));
      for (const one of ledgers) {
        // Eight hours, of which four are of the next day; the account is moved in between.
        await store().append(one.commitsOf(chargesFrom(START, 40, HOUR_MS / 10)));
        await store().save([one.save(["2026-01-31"])]);
        if (one.account === 70) one.dna = ".1.9.";
        await store().append(one.commitsOf(chargesFrom(START + 4 * HOUR_MS, 41, HOUR_MS / 10)));
        await store().save([one.save(["2026-02-01"])]);
      }
      await projected(ledgers);
      const all = ledgers.flatMap((one) => one.charges.map((each) => ({ ...each, account: one.account })));
      const isUnder2 = ({ account, at }: { account: number; at: number }) =>
        account === 7 || (account === 70 && at < START + 4 * HOUR_MS);
      const hours = { from: hourOf(START + HOUR_MS), to: hourOf(START + 6 * HOUR_MS) };
      const isInHours = ({ at }: Charge) => hourOf(at) >= hours.from && hourOf(at) <= hours.to;
      const cases = [
        [{ dna: "." }, () => true],
        [{ dna: ".1.2." }, isUnder2],
        [{ ids: [2, 70] }, ({ account }: { account: number }) => account !== 7],
      ] as const;
      for (const grouping of GROUPINGS) {
        for (const [accounts, isAsked] of cases) {
          const asked = all.filter(isAsked);
          const byDay = await report({ accounts, grouping });
          expect([grouping, accounts, shown(byDay.groups)]).toEqual([
            grouping,
            accounts,
            expected(asked, grouping),
          ]);
          expect(byDay.hourly).toEqual([]);
          const byHour = await report({ accounts, grouping, hours });
          expect([grouping, accounts, shown(byHour.groups)]).toEqual([
            grouping,
            accounts,
            expected(asked.filter(isInHours), grouping),
          ]);
          expect(byHour.hourly.map(({ hour }) => hour)).toHaveLength(6);
          for (const { hour, groups } of byHour.hourly) {
            const own = asked.filter(({ at }) => hourOf(at) === hour);
            expect([hour, shown(groups)]).toEqual([hour, expected(own, grouping)]);
          }
          for (const { groups, days } of [byDay, byHour]) {
            const sums = days.map(({ day: _, model, ...rest }) => ({ id: model!, name: "", sums: rest }));
            expect(total(groups)).toBe(total(sums));
          }
          const accountsOf = (await Array.fromAsync(byHour.accounts)).flat();
          expect(new Set(accountsOf.map(({ account }) => account))).toEqual(
            new Set(asked.filter(isInHours).map(({ account }) => account)),
          );
        }
      }
      const [named] = (await report({ accounts: { ids: [2] }, grouping: { by: "api_key" } })).groups.filter(
        ({ id }) => id === 70,
      );
      expect(named).toMatchObject({ name: "key 70", account: 2 });
    });

    test("are as of the usage document, while what they are made of trails it or is ahead", async () => {
      const one = new Ledger(7, ".1.");
      await store().append(one.commitsOf(chargesFrom(START, 50, 1_000)));
      const first = one.save(["2026-01-31"]);
      const counted = one.charges.map((each) => ({ ...each, account: 7 }));
      await store().save([first]);
      const agree = async () => {
        for (const grouping of GROUPINGS) {
          const { groups } = await report({ grouping });
          expect([grouping, shown(groups)]).toEqual([grouping, expected(counted, grouping)]);
        }
      };
      await agree();
      await projected([one]);
      await agree();
      // Further charges that no document counts yet, though their lines and parts are there.
      await store().append(one.commitsOf(chargesFrom(START + 60_000, 50, 1_000)));
      await agree();
      await store().save([one.save([])]);
      await projected([one]);
      await agree();
      await store().save([{ ...one.save(["2026-01-31"]), snapshot: save(one.actor, one.seq + 1).snapshot }]);
    });

    test("keep 1,000 tags, 399 keys and the main key apart a day; the rest is one group", async () => {
      const one = new Ledger(7, ".1.");
      const charges = Array.from(
        { length: 1_302 },
        (_, i): Charge => ({
          ...{ at: START + i, model: "m", apiKey: i % 500, n: i + 1 },
          // A thousand values of one name fill the bound; then come more of them, and another name.
          tags: i < 1_200 ? { user: `u${i}` } : { late: `l${i}` },
        }),
      );
      await store().append(one.commitsOf(charges));
      await store().save([one.save(["2026-01-31"])]);
      await projected([one]);
      const all = one.charges;
      const rest = (isRest: (i: number) => boolean) => ({ sums: sumsOf(all.filter((_, i) => isRest(i))) });
      for (const hours of [undefined, { from: hourOf(START), to: hourOf(START) }]) {
        const of = async (grouping: UsageGrouping) =>
          (await report({ grouping, ...(hours === undefined ? {} : { hours }) })).groups;
        const users = await of({ by: "tag", name: "user" });
        expect(users).toHaveLength(1_002);
        expect(users.slice(-2)).toMatchObject([
          { id: "(none)", ...rest((i) => i >= 1_200) },
          { id: "(other)", ...rest((i) => i >= 1_000 && i < 1_200) },
        ]);
        // A name that came too late is in the rest with all it has, as one that never came is.
        for (const name of ["late", "never"]) {
          expect(await of({ by: "tag", name })).toMatchObject([
            { id: "(none)", ...rest((i) => i < 1_200) },
            { id: "(other)", ...rest((i) => i >= 1_200) },
          ]);
        }
        const keys = await of({ by: "api_key" });
        expect(keys).toHaveLength(401);
        expect(keys.at(-1)).toMatchObject({ id: "(other)", ...rest((i) => i % 500 > 399) });
        expect(keys.find(({ id }) => id === 0)).toMatchObject({
          name: "main",
          ...rest((i) => i % 500 === 0),
        });
        for (const groups of [users, keys]) expect(total(groups)).toBe(total(await of({ by: "all" })));
      }
    });

    test("of hours are forgotten after two days", async () => {
      const one = new Ledger(7, ".1.");
      await store().append(one.commitsOf(chargesFrom(START, 4, 1_000)));
      await store().save([one.save(["2026-01-31"])]);
      await projected([one]);
      await store().append(one.commitsOf(chargesFrom(START + 3 * DAY_MS, 4, 1_000)));
      await store().save([one.save(["2026-02-03"])]);
      await projected([one]);
      const hours = { from: hourOf(START + 3 * DAY_MS), to: hourOf(START + 3 * DAY_MS) };
      const { groups } = await report({ grouping: { by: "all" }, hours });
      expect(groups).toMatchObject([{ id: "(all)", sums: { requests: 4 } }]);
    });

    test("refuse what no store may run", async () => {
      const hours = { from: "2026-01-31", to: "2026-01-31" };
      await expect(report({ hours })).rejects.toThrow();
      await expect(report({ grouping: { by: "all" }, hours })).rejects.toThrow();
      await expect(report({ grouping: { by: "tag" } as never })).rejects.toThrow();
    });
  });
}
