// What Owners, Root and administrators do with configurations and maps: settings and edits of maps, cascades and
// clearings, going back to former versions, accounts' own words, and looks at what is in effect. In an orderly run
// these come one after another, so that what is in effect is known; in the others they come as they like.

import { STALE_PROFILE } from "../../actors/account/admit.ts";
import { editOwnMap, type MapName, type SharedMaps } from "../../actors/account/map-overrides.ts";
import { type AccountId, ownerOf, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { toNano } from "../../actors/money.ts";
import type { ConfigEdits, Configuring } from "../../actors/owner/config.ts";
import { type ConfigRow, reversionTo } from "../../actors/owner/history.ts";
import type { MapEdits } from "../../actors/owner/map-edits.ts";
import { STALE_CONFIG } from "../../actors/owner/owner.ts";
import { MAP_ENTRIES_MAX } from "../../actors/pattern.ts";
import { configurationsAbove } from "../../src/admin/ancestor-configurations.ts";
import { RefusedError } from "../../src/base/errors.ts";
import type { Checkers } from "./checkers.ts";
import { type Clients, GaveUp } from "./clients.ts";
import type { ProcessClock } from "./clock.ts";
import type { Load } from "./load.ts";
import type { SimNode } from "./node.ts";
import type { SimRandom } from "./random.ts";
import type { Trace } from "./trace.ts";
import type { Tree } from "./tree.ts";

/** Few, so that words meet. */
const PATTERNS = ["gpt-*", "gpt-4o", "*", "small", "large", "speech"];
const MODELS = ["small", "large", "speech"];
/** Longer than any outage: a client that gives up does not know what it did. */
const TRIES = 200;

export function createConfiguring(parts: {
  clients: Clients;
  tree: Tree;
  world: ProcessClock;
  random: SimRandom;
  trace: Trace;
  load: Load;
  checkers: Checkers;
}): Readonly<Record<string, () => Promise<void>>> {
  const { clients, tree, world, random, trace, load, checkers } = parts;
  const { configs, maps } = checkers;
  const ids = random.fork().forRuntime(world);
  let last: Promise<unknown> = Promise.resolve();

  /** One after another where the run is orderly. */
  function inTurn(run: () => Promise<void>): Promise<void> {
    if (!load.orderly) return run();
    const turn = last.then(run);
    last = turn.catch(() => undefined);
    return turn.catch((error: unknown) => {
      // What a client does not know the end of may still come about.
      if (!(error instanceof RefusedError)) maps.lost();
      throw error;
    });
  }

  const reach = <T>(what: string, attempt: (node: SimNode) => Promise<T>): Promise<T> =>
    clients.reach(what, TRIES, attempt);
  const read = (owner: AccountId) =>
    reach("read configuration", (node) => node.system.ask(actorRef.owner(owner), "read", {}));
  const profileOf = (id: AccountId) =>
    reach("profile", (node) => node.system.ask(actorRef.account(id), "profile", {}));

  /** The first few, so that words meet. */
  const someone = () => random.pick(tree.known.slice(0, 12));

  /** Somebody who has a configuration. */
  async function anOwner(): Promise<AccountId> {
    if (random.chance(0.25)) return ROOT;
    const { profile } = await profileOf(someone().id);
    return ownerOf(profile);
  }

  function editsOf<T>(value: () => T, mayClear: boolean): MapEdits<T> {
    if (mayClear && random.chance(0.15)) return { clear: true, changes: [] };
    const patterns = new Set(Array.from({ length: random.between(1, 3) }, () => random.pick(PATTERNS)));
    const changes = [...patterns].map((pattern) => {
      return { pattern, value: random.chance(0.3) ? null : value() };
    });
    return { clear: false, changes };
  }
  // Always the same figure: how figures of one model merge is no question of who was last.
  const limits = () => editsOf(() => ({ rpm: random.between(1, 1_000) }), true);
  const mapper = () => editsOf(() => random.pick(MODELS), false);

  function editsOfAll(): ConfigEdits {
    return {
      ...(random.chance(0.5) ? { modelMapper: mapper() } : {}),
      ...(random.chance(0.5) ? { modelLimits: limits() } : {}),
      ...(random.chance(0.3) ? { levelMapper: editsOf(() => random.between(1, 4), false) } : {}),
      ...(random.chance(0.2) ? { modelFailover: editsOf(() => [random.pick(MODELS)], false) } : {}),
    };
  }

  /** One version, or none; answers how it went. */
  async function configure(
    owner: AccountId,
    step: Configuring,
    more: { readonly version?: number; readonly back?: number } = {},
  ): Promise<void> {
    const id = ids.id();
    const bornAt = world.wall();
    const marked = { ...step, change: { ...step.change, serviceMail: id } };
    const { version, back } = more;
    configs.asks(id, { owner, step: marked, ...(back === undefined ? {} : { back }) });
    const input = { ...marked, by: owner, ...(version === undefined ? {} : { version }) };
    try {
      const made = await reach("configure", (node) =>
        node.system.ask(actorRef.owner(owner), "configure", input, { id, bornAt }),
      );
      configs.answered(id, made.version);
      const words = (step.cascade?.fields ?? []).flatMap((field) => {
        const edits = step.edits?.[field];
        return edits === undefined ? [] : [{ field, edits }];
      });
      maps.version(owner, made.version, words, back);
    } catch (error) {
      if (error instanceof RefusedError) configs.refused(id);
      throw error;
    }
  }

  /** Refused by a newer version, as it may be. */
  const unlessStale = (error: unknown): void => {
    if (!(error instanceof RefusedError) || error.refusal.code !== STALE_CONFIG) throw error;
    trace.count("configurations stale");
  };

  return {
    async configure() {
      await inTurn(async () => {
        const change = random.pick([
          {},
          { pricing: { ChatPricing: { small: { InputText: random.between(0, 9), OutputText: 1 } } } },
          { pricing: null },
          { modelLimits: { small: { rpm: random.between(1, 9) } } },
          { userMinBalance: toNano(random.below(1_000)) },
          { emailPass: random.chance(0.3) ? null : { keyId: "1", box: ids.id() } },
        ]);
        await configure(await anOwner(), { change, edits: editsOfAll() });
      });
    },
    async configureFromRead() {
      const owner = await anOwner();
      await inTurn(async () => {
        const { version } = await read(owner);
        await configure(owner, { change: {}, edits: editsOfAll() }, { version }).catch(unlessStale);
      });
    },
    async refusedConfiguration() {
      const changes = Array.from({ length: MAP_ENTRIES_MAX + 1 }, (_, i) => ({
        pattern: `p${i}`,
        value: "small",
      }));
      await inTurn(async () => {
        const tooMany = { modelMapper: { clear: false, changes } };
        await configure(await anOwner(), { change: { logEnable: false }, edits: tooMany });
      });
    },
    async cascade() {
      await inTurn(async () => {
        const owner = await anOwner();
        const edits = random.pick([
          { modelMapper: mapper() },
          { modelLimits: limits() },
          { modelMapper: mapper(), modelLimits: limits() },
        ]);
        const { version: root } = await read(ROOT);
        const fields = Object.keys(edits) as MapName[];
        await configure(owner, { change: {}, edits, cascade: { fields, root } });
      });
    },
    async goBack() {
      await inTurn(async () => {
        const owner = await anOwner();
        const config = await read(owner);
        const version = Math.max(0, config.version - random.between(1, 4));
        if (version === config.version) return;
        const where = [{ field: "owner", is: "=", value: owner }] as const;
        const rows = await reach("history", (node) =>
          node.store.find({ table: "configs", where, order: "version", descending: true }),
        );
        const way = reversionTo(config, version);
        for (const row of rows) way.take(row as unknown as ConfigRow);
        const found = way.change();
        // The history trails the answers by a moment, after a crash by more.
        if (!found.ok) return trace.count("history behind");
        const step = { change: found.value };
        await configure(owner, step, { version: config.version, back: version }).catch(unlessStale);
        trace.count("versions gone back to");
      });
    },
    async ownWord() {
      const { id } = someone();
      await inTurn(async () => {
        const field = random.pick(["modelMapper", "modelLimits"] as const);
        const edits = field === "modelMapper" ? mapper() : limits();
        const owner = await say(id, field, edits as MapEdits<SharedMaps[typeof field]>);
        maps.own(id, owner, { field, edits });
        trace.count("own words");
      });
    },
    async look() {
      await inTurn(async () => {
        const { profile } = await profileOf(someone().id);
        const owner = ownerOf(profile);
        const least = configs.newest(owner);
        configs.read(owner, await read(owner), least);
        maps.look(profile);
      });
    },
  };

  /** As the endpoint does. */
  async function say<F extends MapName>(
    id: AccountId,
    field: F,
    edits: MapEdits<SharedMaps[F]>,
  ): Promise<AccountId> {
    let sent = 0;
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const { profile, version } = await profileOf(id);
        const above = await reach("configurations", ({ system }) => configurationsAbove(system, profile));
        const { entries, stamps } = editOwnMap(profile, above, field, edits);
        const input = { change: { [field]: entries, stamps }, parent: null, by: ROOT, version };
        await reach("own word", (node) => {
          sent++;
          return node.system.ask(actorRef.account(id), "update", input);
        });
        return ownerOf(profile);
      } catch (error) {
        // Also when the answer of one's own change was lost: it is then said once more.
        if (error instanceof RefusedError && error.refusal.code === STALE_PROFILE) continue;
        // Refused, as one whose account has begun to close: what was said before may stand all the same.
        throw sent > 1 ? new GaveUp("own word") : error;
      }
    }
    throw new GaveUp("own word");
  }
}
