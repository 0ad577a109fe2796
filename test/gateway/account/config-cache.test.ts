// The gateway's copies of profiles, configurations and Levels: fresh by publication, read anew after seconds (a configuration
// within one), and never replaced by something older.

import { describe, expect, test } from "bun:test";
import { INVALID_KEY } from "../../../actors/account/authenticate.ts";
import type { AccountChanged } from "../../../actors/account/views.ts";
import type { AccountId, ProviderKeyId } from "../../../actors/ids.ts";
import type { Protocol } from "../../../actors/index.ts";
import type { LevelView } from "../../../actors/level/view.ts";
import { addCascade, type Cascade, NO_CASCADE } from "../../../actors/owner/cascade.ts";
import { DEFAULT_CONFIG, type OwnerConfig } from "../../../actors/owner/config.ts";
import { ownerTopic } from "../../../actors/owner/owner.ts";
import { RefusedError } from "../../../src/base/errors.ts";
import { createConfigCache } from "../../../src/gateway/account/config-cache.ts";
import { type ActorRef, actorName } from "../../../src/runtime/actor.ts";
import type { ActorSystem } from "../../../src/runtime/system.ts";
import { profileOf } from "../../actors/account-samples.ts";
import { manualClock } from "../../runtime/manual-clock.ts";

const id = (value: number) => value as AccountId;
const configOf = (version: number, over: Partial<OwnerConfig> = {}): OwnerConfig => ({
  ...DEFAULT_CONFIG,
  version,
  ...over,
});
const viewOf = (version: number, ...keys: number[]): LevelView => ({
  id: "2.4",
  version,
  members: version,
  health: [],
  switchedUntil: 0,
  keys: keys.map((key) => ({
    id: key as ProviderKeyId,
    level: 4,
    provider: "https://api.example.com/v1",
    secret: { keyId: "k", box: "" },
    config: {},
    state: "normal",
  })),
});

/** A system that answers from a table, at once or later, and says what it was asked. */
function rig({ isLoadedHere = false } = {}) {
  const clock = manualClock();
  const asked: string[] = [];
  const answers = new Map<string, unknown>();
  type Listener = (topic: string, body: unknown) => void;
  const listeners: [string, Listener, (topic: string) => void][] = [];
  let missed: (concerns: (actor: ActorRef) => boolean) => void = () => {};
  const answer = (to: { kind: string; id: string }, type: string) => {
    asked.push(`${to.kind}/${to.id} ${type}`);
    return answers.get(`${to.kind}/${to.id}`);
  };
  const system = {
    ask: async (...to: Parameters<typeof answer>) => answer(...to),
    askNow: (...to: Parameters<typeof answer>) =>
      isLoadedHere ? answer(...to) : Promise.resolve(answer(...to)),
    subscribe(topic: string, handle: Listener, changed: (topic: string) => void) {
      listeners.push([topic, handle, changed]);
      return () => {};
    },
    onStale(handle: typeof missed) {
      missed = handle;
      return () => {};
    },
  } as unknown as ActorSystem<Protocol>;
  const configs = createConfigCache({ system, clock });
  const publish = (topic: string, body: unknown) => {
    for (const [pattern, handle] of listeners)
      if (topic.startsWith(pattern.slice(0, -1))) handle(topic, body);
  };
  /** The change was too large to be published. */
  const publishChange = (topic: string) => {
    for (const [pattern, , changed] of listeners) if (topic.startsWith(pattern.slice(0, -1))) changed(topic);
  };
  for (const [account, dna] of [
    [2, ".1."],
    [7, ".1.2."],
    [8, ".1.2.7."],
  ] as const) {
    const parent = id(account === 2 ? 1 : account === 7 ? 2 : 7);
    answers.set(`account/${account}`, { profile: profileOf({ id: id(account), parent, dna }), version: 1 });
  }
  answers.set("owner/1", configOf(1));
  answers.set("owner/2", configOf(1));
  answers.set("level/2.4", viewOf(1, 1));
  /** News about these actors may have been missed. */
  const miss = (...names: string[]) => missed((actor) => names.includes(actorName(actor)));
  return { clock, asked, answers, configs, publish, publishChange, miss };
}

describe("a accountContext", () => {
  test("is the account, its ancestors below Root from the nearest on, and the Owner's configuration", async () => {
    const { configs } = rig();
    const accountContext = await configs.accountContext(id(8));
    expect(accountContext.account.profile.id).toBe(id(8));
    expect(accountContext.ancestors.map(({ profile }) => profile.id)).toEqual([7, 2].map(id));
    expect([accountContext.account.owner, accountContext.config.config.version]).toEqual([id(2), 1]);
  });

  test("is refused once, though one ancestor is refused later and another at once", async () => {
    const gone = () => new RefusedError(INVALID_KEY);
    const profiles = new Map<string, () => unknown>([
      ["7", () => Promise.resolve().then(() => Promise.reject(gone()))],
      [
        "2",
        () => {
          throw gone();
        },
      ],
    ]);
    const system = {
      askNow: ({ id: account }: { id: string }) => profiles.get(account)!(),
      ask: async (_: unknown, __: string) => configOf(1),
      subscribe: () => () => {},
      onStale: () => () => {},
    } as unknown as ActorSystem<Protocol>;
    const configs = createConfigCache({ system, clock: manualClock() });
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      configs.acceptProfile(id(8), {
        profile: profileOf({ id: id(8), dna: ".1.2.7.", parent: id(7) }),
        version: 1,
      });
      await expect((async () => configs.accountContext(id(8)))()).rejects.toThrow(RefusedError);
      await Bun.sleep(5);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });

  test("of an Owner has no ancestors", async () => {
    const accountContext = await rig().configs.accountContext(id(2));
    expect([accountContext.ancestors, accountContext.account.owner]).toEqual([[], id(2)]);
  });

  test("is read once in five seconds", async () => {
    const { configs, asked, clock } = rig();
    for (let i = 0; i < 3; i++) await configs.accountContext(id(8));
    expect(asked.sort()).toEqual([
      "account/2 profile",
      "account/7 profile",
      "account/8 profile",
      "owner/1 read",
      "owner/2 read",
    ]);
    await clock.advance(5_001);
    await configs.accountContext(id(8));
    expect(asked).toHaveLength(10);
  });

  describe("is the same object", () => {
    const changed = (
      account: number,
      over: Parameters<typeof profileOf>[0],
      version: number,
    ): AccountChanged =>
      ({ profile: profileOf({ id: id(account), ...over }), version, closing: false }) as AccountChanged;

    test("as long as all that it is made of is unchanged, also when copies of it were made anew", async () => {
      const { configs, clock, publish } = rig({ isLoadedHere: true });
      const first = await configs.accountContext(id(8));
      expect(await configs.accountContext(id(8))).toBe(first);
      publish("owner.2", first.config.config);
      expect(await configs.accountContext(id(8))).toBe(first);
      await clock.advance(5_001);
      await configs.config(id(1));
      await configs.config(id(2));
      await configs.accountContext(id(8));
      expect(await configs.accountContext(id(8))).toBe(first);
    });

    test.each<[string, (one: ReturnType<typeof rig>) => void]>([
      ["profile", ({ publish }) => publish("account.8", changed(8, { parent: id(7), dna: ".1.2.7." }, 2))],
      ["ancestor", ({ publish }) => publish("account.7", changed(7, { parent: id(2), dna: ".1.2." }, 2))],
      ["Owner", ({ publish }) => publish("account.2", changed(2, { parent: id(1), dna: ".1." }, 2))],
      ["Owner's configuration", ({ publish }) => publish("owner.2", configOf(2))],
      ["configuration of Root", ({ publish }) => publish("owner.1", configOf(2))],
    ])("but another one for another %s", async (_, change) => {
      const made = rig({ isLoadedHere: true });
      const first = await made.configs.accountContext(id(8));
      change(made);
      expect(await made.configs.accountContext(id(8))).not.toBe(first);
    });

    test("and is refused when an ancestor is being deleted", async () => {
      const { configs, publish } = rig({ isLoadedHere: true });
      await configs.accountContext(id(8));
      publish("account.7", { ...changed(7, { parent: id(2), dna: ".1.2." }, 2), closing: true });
      await expect((async () => configs.accountContext(id(8)))()).rejects.toThrow(RefusedError);
    });
  });

  test("is there at once when its accounts are loaded on this node, also when their copies are too old", async () => {
    const { configs, asked, clock } = rig({ isLoadedHere: true });
    await configs.accountContext(id(8));
    await clock.advance(999);
    asked.length = 0;
    expect(configs.accountContext(id(8))).not.toBeInstanceOf(Promise);
    expect(asked).toEqual(["owner/2 read", "owner/1 read"]);
    for (let ms = 0; ms < 5_000; ms += 500) {
      await clock.advance(500);
      await configs.config(id(1));
      await configs.config(id(2));
    }
    asked.length = 0;
    expect(configs.accountContext(id(8))).not.toBeInstanceOf(Promise);
    expect(asked.filter((one) => one.endsWith("profile"))).toEqual([
      "account/8 profile",
      "account/7 profile",
      "account/2 profile",
    ]);
  });

  test("has the profile that the account itself sent, and never an older one", async () => {
    const { configs } = rig();
    await configs.accountContext(id(8));
    const fresh = profileOf({ id: id(8), dna: ".1.2.7.", name: "fresh" });
    configs.acceptProfile(id(8), { profile: fresh, version: 3 });
    configs.acceptProfile(id(8), { profile: { ...fresh, name: "older" }, version: 2 });
    const { account } = await configs.accountContext(id(8));
    expect([account.profile.name, account.version]).toEqual(["fresh", 3]);
  });
});

describe("an account that is published", () => {
  const newsOf = (account: number, dna: string, over: object, version = 2, closing = false) =>
    ({ profile: profileOf({ id: id(account), dna, ...over }), version, closing }) satisfies AccountChanged;

  test("is in force at once, for itself and for everybody below", async () => {
    const { configs, publish, asked } = rig();
    await configs.accountContext(id(8));
    const before = asked.length;
    publish("account.7", newsOf(7, ".1.2.", { allowModels: ["gpt-4o"] }));
    publish("account.8", newsOf(8, ".1.2.7.", { rates: 3 }));
    const { account, ancestors } = await configs.accountContext(id(8));
    expect([account.profile.rates, ancestors[0]!.profile.allowModels]).toEqual([3, ["gpt-4o"]]);
    expect(asked).toHaveLength(before);
  });

  test("is not overtaken by older news", async () => {
    const { configs, publish } = rig();
    publish("account.7", newsOf(7, ".1.2.", { rates: 3 }, 5));
    publish("account.7", newsOf(7, ".1.2.", { rates: 2 }, 4));
    expect((await configs.accountContext(id(8))).ancestors[0]!.profile.rates).toBe(3);
  });

  test("has the ancestors of its new place after a move", async () => {
    const { configs, publish, answers } = rig();
    await configs.accountContext(id(8));
    answers.set("account/9", { profile: profileOf({ id: id(9), dna: ".1.2." }), version: 1, closing: false });
    publish("account.8", newsOf(8, ".1.2.9.", {}));
    expect((await configs.accountContext(id(8))).ancestors.map(({ profile }) => profile.id)).toEqual(
      [9, 2].map(id),
    );
  });
});

/** A mapper that is laid on others, by version `at` of a configuration that knew version `root` of Root's. */
const laying = (pattern: string, value: string | null, at: number, root = at): OwnerConfig => ({
  ...configOf(at),
  cascades: { ...DEFAULT_CONFIG.cascades, modelMapper: laidOn(NO_CASCADE, pattern, value, at, root) },
});
const laidOn = (cascade: Cascade<string>, pattern: string, value: string | null, at: number, root: number) =>
  addCascade(cascade, { clear: false, changes: [{ pattern, value }] }, { at, root });

describe("the maps of a accountContext", () => {
  const mapper = async ({ configs }: ReturnType<typeof rig>, account = 8) =>
    (await configs.accountContext(id(account))).maps.modelMapper;

  test("are the account's own, the very same object, where nothing is laid on it", async () => {
    const bench = rig();
    const profile = profileOf({ id: id(8), dna: ".1.2.7.", modelMapper: { a: "b" } });
    bench.configs.acceptProfile(id(8), { profile, version: 2 });
    expect((await mapper(bench)).all()).toBe(profile.modelMapper);
  });

  test("have what the Owner and Root publish, at once, with whose it is", async () => {
    const bench = rig();
    await mapper(bench);
    const before = bench.asked.length;
    bench.publish("owner.2", laying("a", "of-owner", 2));
    bench.publish("owner.1", laying("b", "of-root", 2));
    const map = await mapper(bench);
    expect(map.all()).toEqual({ a: "of-owner", b: "of-root" });
    expect(["a", "b"].map((name) => map.find(name)?.from)).toEqual(["owner", "root"]);
    expect(bench.asked).toHaveLength(before);
  });

  test("of an Owner have what Root lays on it, and not what it lays on others", async () => {
    const bench = rig();
    bench.publish("owner.2", laying("a", "of-owner", 2));
    bench.publish("owner.1", laying("b", "of-root", 2));
    expect((await mapper(bench, 2)).all()).toEqual({ b: "of-root" });
  });

  test("are made once of the same versions, and anew of others", async () => {
    const bench = rig();
    bench.publish("owner.2", laying("a", "of-owner", 2));
    const profile = profileOf({ id: id(8), dna: ".1.2.7.", modelMapper: { c: "own" } });
    bench.configs.acceptProfile(id(8), { profile, version: 2 });
    const first = await bench.configs.accountContext(id(8));
    expect((await bench.configs.accountContext(id(8))).maps).toBe(first.maps);
    bench.publish("owner.2", laying("a", "other", 3));
    expect((await mapper(bench)).all()).toEqual({ c: "own", a: "other" });
    bench.configs.acceptProfile(id(8), { profile: { ...profile, modelMapper: {} }, version: 3 });
    expect((await mapper(bench)).all()).toEqual({ a: "other" });
    bench.publish("owner.1", laying("b", "of-root", 2));
    expect((await mapper(bench)).all()).toEqual({ a: "other", b: "of-root" });
  });

  test("are those of the new Owner after a move", async () => {
    const bench = rig();
    bench.answers.set("account/3", { profile: profileOf({ id: id(3), dna: ".1." }), version: 1 });
    bench.answers.set("owner/3", laying("a", "new", 1));
    bench.publish("owner.2", laying("a", "old", 9));
    const stamps = { modelMapper: { a: { owner: id(2), config: 9, root: 1 } }, modelLimits: {} };
    const profile = profileOf({ id: id(8), dna: ".1.2.7.", modelMapper: { a: "own" }, stamps });
    bench.configs.acceptProfile(id(8), { profile, version: 2 });
    expect((await mapper(bench)).all()).toEqual({ a: "own" });
    bench.configs.acceptProfile(id(8), { profile: { ...profile, dna: ".1.3." }, version: 3 });
    expect((await mapper(bench)).all()).toEqual({ a: "new" });
  });
});

describe("the maps of a profile at hand, as a list has it", () => {
  const row = (account: number, dna: string, parent: number) =>
    profileOf({ id: id(account), dna, parent: id(parent) });

  test("ask for the configurations of a tree once, and are there at once from then on", async () => {
    const { configs, asked, answers } = rig();
    answers.set("owner/2", laying("a", "of-owner", 2));
    const first = configs.maps(row(11, ".1.2.", 2));
    expect(first).toBeInstanceOf(Promise);
    expect((await first).modelMapper.all()).toEqual({ a: "of-owner" });
    const next = configs.maps(row(12, ".1.2.", 2));
    expect(next).not.toBeInstanceOf(Promise);
    expect(asked.sort()).toEqual(["owner/1 read", "owner/2 read"]);
  });

  test("of Owners wake no Owner", async () => {
    const { configs, asked } = rig();
    for (const owner of [2, 3, 4]) await configs.maps(row(owner, ".1.", 1));
    expect(asked).toEqual(["owner/1 read"]);
  });
});

describe("a accountContext in which somebody closes", () => {
  const refusalOf = async (work: () => unknown): Promise<string> => {
    try {
      await work();
      return "there";
    } catch (error) {
      return error instanceof RefusedError ? error.refusal.code : String(error);
    }
  };

  test.each([
    ["itself", 8, ".1.2.7."],
    ["its parent", 7, ".1.2."],
    ["its Owner", 2, ".1."],
  ])("is nobody's: %s", async (_who, account, dna) => {
    const { configs, publish } = rig();
    await configs.accountContext(id(8));
    const profile = profileOf({ id: id(account), dna });
    publish(`account.${account}`, { profile, version: 2, closing: true } satisfies AccountChanged);
    expect(await refusalOf(() => configs.accountContext(id(8)))).toBe("invalid_api_key");
  });

  test("is nobody's when it is read anew, too", async () => {
    const { configs, answers } = rig();
    answers.set("account/7", { profile: profileOf({ id: id(7), dna: ".1.2." }), version: 2, closing: true });
    expect(await refusalOf(() => configs.accountContext(id(8)))).toBe("invalid_api_key");
  });

  test("stays nobody's when a running request brings the same profile along", async () => {
    const { configs, publish } = rig();
    await configs.accountContext(id(8));
    const profile = profileOf({ id: id(7), dna: ".1.2." });
    publish("account.7", { profile, version: 2, closing: true } satisfies AccountChanged);
    configs.acceptProfile(id(7), { profile, version: 2 });
    expect(await refusalOf(() => configs.accountContext(id(8)))).toBe("invalid_api_key");
  });

  test("does not touch who is beside or above", async () => {
    const { configs, publish } = rig();
    await configs.accountContext(id(8));
    publish("account.8", { profile: profileOf({ id: id(8), dna: ".1.2.7." }), version: 2, closing: true });
    expect(await refusalOf(() => configs.accountContext(id(7)))).toBe("there");
  });
});

describe("an Owner's configuration", () => {
  test("that is published is in force at once; an older one is not", async () => {
    const { configs, publish } = rig();
    expect((await configs.config(id(2))).config.version).toBe(1);
    publish(ownerTopic(2 as AccountId), configOf(3, { modelMapper: { a: "b" } }));
    expect((await configs.config(id(2))).config).toMatchObject({ version: 3, modelMapper: { a: "b" } });
    publish(ownerTopic(2 as AccountId), configOf(2));
    expect((await configs.config(id(2))).config.version).toBe(3);
  });

  test("brings its own prices, compiled once for each override", async () => {
    const { configs, publish } = rig();
    const pricing = { ChatPricing: { mine: { InputText: 1, OutputText: 2 } } };
    expect((await configs.config(id(2))).prices.find("mine", ["ChatPricing"])).toBeNull();
    publish("owner.2", configOf(2, { pricing }));
    const { prices } = await configs.config(id(2));
    expect(prices.find("mine", ["ChatPricing"])?.price).toMatchObject({ InputText: 1 });
    publish("owner.2", configOf(3, { pricing, modelMapper: { a: "b" } }));
    expect((await configs.config(id(2))).prices).toBe(prices);
  });

  test("of one Owner is not another's", async () => {
    const { configs, publish } = rig();
    publish("owner.22", configOf(9));
    expect((await configs.config(id(2))).config.version).toBe(1);
  });
});

describe("a configuration of which the publication was lost", () => {
  const reads = ({ asked }: ReturnType<typeof rig>) => asked.filter((one) => one === "owner/2 read").length;

  test("is in force after a second for accounts that ask seldom", async () => {
    const { configs, answers, clock } = rig();
    await configs.accountContext(id(8));
    for (const version of [2, 3]) {
      answers.set("owner/2", configOf(version));
      await clock.advance(1_001);
      expect((await configs.accountContext(id(8))).config.config.version).toBe(version);
    }
  });

  test("is in force within a second for accounts that ask often, which never wait and read it seldom", async () => {
    const bench = rig();
    const { configs, answers, clock } = bench;
    await configs.accountContext(id(8));
    answers.set("owner/2", configOf(2));
    answers.set("owner/1", laying("b", "of-root", 2));
    for (let ms = 0; ms < 1_000; ms += 20) {
      await clock.advance(20);
      expect(configs.accountContext(id(8))).not.toBeInstanceOf(Promise);
    }
    const { config, maps } = await configs.accountContext(id(8));
    expect([config.config.version, maps.modelMapper.all()]).toEqual([2, { b: "of-root" }]);
    expect(reads(bench)).toBeWithin(2, 4);
  });

  test("is read by nobody for an Owner that is idle", async () => {
    const bench = rig();
    await bench.configs.accountContext(id(8));
    await bench.clock.advance(3_600_000);
    expect([reads(bench), bench.clock.waiting]).toEqual([1, 0]);
  });

  test("counts from when it was asked for, not from when the answer came", async () => {
    const bench = rig();
    const { configs, answers, clock } = bench;
    const slow = Promise.withResolvers<OwnerConfig>();
    answers.set("owner/2", slow.promise);
    const first = configs.config(id(2));
    await clock.advance(900);
    slow.resolve(configOf(1));
    await first;
    answers.set("owner/2", configOf(2));
    await clock.advance(101);
    expect((await configs.config(id(2))).config.version).toBe(2);
  });

  test("whose Owner cannot be read is the former one for the rest of its second, and then an error", async () => {
    const { configs, answers, clock } = rig();
    await configs.config(id(2));
    const cutOff = Promise.reject(new Error("cut off"));
    cutOff.catch(() => {});
    answers.set("owner/2", cutOff);
    await clock.advance(900);
    expect((await configs.config(id(2))).config.version).toBe(1);
    await clock.advance(200);
    await expect(configs.config(id(2))).rejects.toThrow("cut off");
    answers.set("owner/2", configOf(2));
    expect((await configs.config(id(2))).config.version).toBe(2);
  });

  test("keeps all that was made of it where it is the same version", async () => {
    const { configs, answers, clock } = rig();
    const pricing = { ChatPricing: { mine: { InputText: 1 } } };
    answers.set("owner/2", configOf(2, { pricing }));
    const before = await configs.accountContext(id(8));
    answers.set("owner/2", structuredClone(configOf(2, { pricing })));
    await clock.advance(1_001);
    const after = await configs.accountContext(id(8));
    expect(after.config.config).toBe(before.config.config);
    expect(after.config.prices).toBe(before.config.prices);
    expect(after.maps).toBe(before.maps);
  });
});

describe("a Level", () => {
  test("is unknown until it was loaded, and loaded once by all who ask together", async () => {
    const { configs, asked } = rig();
    expect(configs.level(id(2), 4)).toBeUndefined();
    await Promise.all([configs.loadLevel(id(2), 4), configs.loadLevel(id(2), 4)]);
    expect(asked).toEqual(["level/2.4 view"]);
    expect(configs.level(id(2), 4)).toEqual(viewOf(1, 1));
  });

  test("that is published is in force at once; an older view is not", async () => {
    const { configs, publish } = rig();
    publish("level.2.4", viewOf(5, 1, 2));
    publish("level.2.4", viewOf(4, 1));
    expect(configs.level(id(2), 4)?.version).toBe(5);
    expect((await configs.loadLevel(id(2), 4)).version).toBe(5);
  });

  describe("of which there is news without the keys", () => {
    const newsOf = (version: number, members: number) => {
      const { keys: _, ...news } = { ...viewOf(version), members, switchedUntil: version };
      return news;
    };

    test("keeps its keys and takes everything else, when the news is about these keys", async () => {
      const { configs, publish } = rig();
      const { keys } = await configs.loadLevel(id(2), 4);
      publish("level.2.4", newsOf(9, 1));
      expect(configs.level(id(2), 4)).toEqual({ ...viewOf(9), members: 1, switchedUntil: 9, keys });
      expect(configs.level(id(2), 4)?.keys).toBe(keys);
    });

    test("is read anew when the news is about other keys", async () => {
      const { configs, publish, asked } = rig();
      await configs.loadLevel(id(2), 4);
      publish("level.2.4", newsOf(9, 2));
      expect(configs.level(id(2), 4)).toBeUndefined();
      await configs.loadLevel(id(2), 4);
      expect(asked).toEqual(["level/2.4 view", "level/2.4 view"]);
    });

    test("stays as it is when the news is older", async () => {
      const { configs, publish } = rig();
      publish("level.2.4", viewOf(5, 1, 2));
      publish("level.2.4", newsOf(4, 5));
      publish("level.2.4", newsOf(4, 3));
      expect(configs.level(id(2), 4)).toEqual(viewOf(5, 1, 2));
    });

    test("stays unknown when it was", () => {
      const { configs, publish } = rig();
      publish("level.2.4", newsOf(9, 1));
      expect(configs.level(id(2), 4)).toBeUndefined();
    });

    test("is not overtaken by an answer that was asked for before", async () => {
      const { configs, publish, answers } = rig();
      await configs.loadLevel(id(2), 4);
      publish("level.2.4", newsOf(9, 1));
      answers.set("level/2.4", viewOf(3, 1));
      expect((await configs.loadLevel(id(2), 4)).version).toBe(9);
    });
  });

  test("that nobody spoke of for five seconds is asked again", async () => {
    const { configs, clock } = rig();
    await configs.loadLevel(id(2), 4);
    await clock.advance(5_001);
    expect(configs.level(id(2), 4)).toBeUndefined();
  });
});

describe("changes too large to be published", () => {
  test("of an Owner have its configuration read anew", async () => {
    const { configs, answers, publishChange } = rig();
    await configs.config(id(2));
    answers.set("owner/2", configOf(2));
    publishChange("owner.2");
    expect((await configs.config(id(2))).config.version).toBe(2);
  });

  test("of an account have its profile read anew", async () => {
    const { configs, answers, publishChange } = rig();
    await configs.accountContext(id(8));
    answers.set("account/7", { profile: profileOf({ id: id(7), parent: id(2), dna: ".1.2." }), version: 5 });
    publishChange("account.7");
    expect((await configs.accountContext(id(8))).ancestors[0]?.version).toBe(5);
  });

  test("of a Level have its view forgotten", async () => {
    const { configs, publishChange } = rig();
    await configs.loadLevel(id(2), 4);
    publishChange("level.2.4");
    expect(configs.level(id(2), 4)).toBeUndefined();
  });
});

describe("where news may have been missed", () => {
  const OWNER = id(2);
  /** Everything that a route of account 8 is made from is at hand. */
  async function known() {
    const parts = rig();
    await parts.configs.accountContext(id(8));
    await parts.configs.loadLevel(OWNER, 4);
    parts.asked.length = 0;
    return parts;
  }

  test("the profile that is concerned is read anew, and nothing else", async () => {
    const { configs, answers, asked, miss } = await known();
    answers.set("account/7", { profile: profileOf({ id: id(7), dna: ".1.2.", rates: 9 }), version: 2 });
    miss("account/7");
    const { ancestors } = await configs.accountContext(id(8));
    expect([ancestors[0]!.profile.rates, asked]).toEqual([9, ["account/7 profile"]]);
  });

  test("an account that closes below is nobody's at once", async () => {
    const { configs, answers, miss } = await known();
    answers.set("account/7", { profile: profileOf({ id: id(7), dna: ".1.2." }), version: 2, closing: true });
    miss("account/7");
    await expect(configs.accountContext(id(8))).rejects.toThrow(INVALID_KEY.message);
  });

  test("the configuration that is concerned is read anew", async () => {
    const { configs, answers, asked, miss } = await known();
    answers.set("owner/2", configOf(2));
    miss("owner/2");
    const { config } = await configs.accountContext(id(8));
    expect([config.config.version, asked]).toEqual([2, ["owner/2 read"]]);
  });

  test("the Level that is concerned is not at hand any more", async () => {
    const { configs, miss } = await known();
    miss("level/2.5");
    expect(configs.level(OWNER, 4)).toBeDefined();
    miss("level/2.4");
    expect(configs.level(OWNER, 4)).toBeUndefined();
  });

  test("an answer that was under way is used, and not kept", async () => {
    const { configs, asked, miss } = rig();
    const accountContext = configs.accountContext(id(8));
    const level = configs.loadLevel(OWNER, 4);
    miss("account/8", "level/2.4");
    expect([(await accountContext).account.version, (await level).id]).toEqual([1, "2.4"]);
    expect(configs.level(OWNER, 4)).toBeUndefined();
    asked.length = 0;
    await configs.accountContext(id(8));
    expect(asked).toContain("account/8 profile");
  });
});
