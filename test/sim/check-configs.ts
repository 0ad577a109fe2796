// Checker 10: the configuration of an Owner. Versions without a gap; each change that was asked for is one version or
// none, made upon the one before it; what was answered is stored, in order, and stays; what was refused is nowhere; a
// read shows what is durable; the history says of each version what it changed. Each change carries a mark of its own
// (as its `serviceMail`), by which it is found in the ledger.

import type { ConfigChange, Configuring, OwnerConfig } from "../../actors/owner/config.ts";
import { DEFAULT_CONFIG } from "../../actors/owner/config.ts";
import type { OwnerEvent } from "../../actors/owner/owner.ts";
import { refOf } from "../../src/runtime/actor.ts";
import type { Commit, StoredDocument } from "../../src/store/store.ts";
import { difference } from "./check-documents.ts";
import type { SimDisk } from "./store.ts";
import type { Trace } from "./trace.ts";

/** A change before it is asked for. */
export interface AskedChange {
  readonly owner: number;
  readonly step: Configuring;
  /** It goes back to this version. */
  readonly back?: number;
}

export interface ConfigChecker {
  committed(commit: Commit): void;
  /** Answers the newest version that was answered by now: a later read or change shows no older one. */
  asks(mark: string, change: AskedChange): void;
  answered(mark: string, version: number): void;
  refused(mark: string): void;
  newest(owner: number): number;
  /** `least`: the newest version that was answered before the read was asked. */
  read(owner: number, config: OwnerConfig, least: number): void;
  /** As the ledger has it, at one version or the newest. */
  config(owner: number, version?: number): OwnerConfig;
  saved(document: StoredDocument): void;
  atRest(): Promise<void>;
}

interface Change extends AskedChange {
  /** The newest version that was answered when it was asked. */
  readonly after: number;
  fate: "open" | "answered" | "refused";
  version: number | null;
}

interface Version {
  readonly config: OwnerConfig;
  readonly at: number;
  readonly by: number;
}

const NAME = "10 configuration";

export function configChecker(disk: SimDisk, trace: Trace): ConfigChecker {
  /** By Owner, then version. */
  const ledgers = new Map<number, Version[]>();
  const changes = new Map<string, Change>();
  const answeredBy = new Map<number, number>();
  const fail = (message: string): undefined => void trace.violate(NAME, message);

  function versions(owner: number): Version[] {
    const known = ledgers.get(owner);
    if (known !== undefined) return known;
    const made = [{ config: DEFAULT_CONFIG, at: 0, by: 0 }];
    ledgers.set(owner, made);
    return made;
  }

  function configured(owner: number, { version, change, by }: OwnerEvent, at: number): undefined {
    const all = versions(owner);
    const before = all.at(-1)!.config;
    const where = `owner ${owner}, version ${version}`;
    if (version !== before.version + 1) fail(`${where} follows ${before.version}`);
    const config = { ...before, ...change, version };
    all.push({ config, at, by });
    const asked = changes.get(config.serviceMail);
    if (asked === undefined || asked.owner !== owner) return fail(`${where} was asked for by nobody`);
    if (asked.version !== null) return fail(`${where} is version ${asked.version} once more`);
    if (asked.fate === "refused") fail(`${where} was refused`);
    if (version <= asked.after) fail(`${where} was asked for after version ${asked.after} was answered`);
    asked.version = version;
    const expected = expectedOf(before, asked.step);
    // What is laid on whom is another checker's question.
    if (asked.step.cascade !== undefined) expected.cascades = config.cascades;
    const wrong = difference(config, { ...expected, version }, "");
    if (wrong !== "") fail(`${where}: ${wrong}`);
    if (asked.back !== undefined) wentBack(where, config, all[asked.back]!.config);
    trace.count("configurations made");
  }

  function wentBack(where: string, config: OwnerConfig, to: OwnerConfig): void {
    const { version, serviceMail, emailPass } = config;
    const wrong = difference(config, { ...to, version, serviceMail, emailPass }, "");
    if (wrong !== "") fail(`${where} goes back to ${to.version}: ${wrong}`);
  }

  function row({ body }: Pick<StoredDocument, "body">): undefined {
    const owner = Number(body.owner);
    const version = Number(body.version);
    const [before, after] = [versions(owner)[version - 1], versions(owner)[version]];
    if (before === undefined || after === undefined) {
      return fail(`the history of owner ${owner} has version ${version}, its ledger has not`);
    }
    const expected = {
      ...{ owner, version, at: after.at, by: after.by },
      changes: changesOf(before.config, after.config),
    };
    const wrong = difference(JSON.parse(JSON.stringify(body)), JSON.parse(JSON.stringify(expected)), "");
    if (wrong !== "") fail(`the history of owner ${owner}, version ${version}: ${wrong}`);
  }

  return {
    committed({ actor, events }) {
      const { kind, id } = refOf(actor);
      if (kind !== "owner") return;
      for (const { at, e } of events) configured(Number(id), e as OwnerEvent, at);
    },
    asks(mark, change) {
      const after = answeredBy.get(change.owner) ?? 0;
      changes.set(mark, { ...change, after, fate: "open", version: null });
    },
    answered(mark, answered) {
      const change = changes.get(mark)!;
      const { owner, version } = change;
      change.fate = "answered";
      if (version === null) return fail(`a change of owner ${owner} was answered, and is not stored`);
      if (answered !== version) fail(`version ${version} of owner ${owner} was answered as ${answered}`);
      answeredBy.set(owner, Math.max(answeredBy.get(owner) ?? 0, version));
      trace.count("configurations answered");
    },
    refused(mark) {
      const change = changes.get(mark)!;
      change.fate = "refused";
      if (change.version !== null) fail(`owner ${change.owner}: version ${change.version} was refused`);
    },
    newest: (owner) => answeredBy.get(owner) ?? 0,
    read(owner, config, least) {
      const { version } = config;
      const stored = versions(owner)[version]?.config;
      if (version < least || stored === undefined) {
        return fail(`a read of owner ${owner} shows version ${version}, ${least} was answered`);
      }
      const wrong = difference(config, stored, "");
      if (wrong !== "") fail(`a read of owner ${owner} at version ${version}: ${wrong}`);
    },
    config: (owner, version) => versions(owner).at(version ?? -1)!.config,
    saved: row,
    async atRest() {
      for (const [owner, all] of ledgers) {
        const where = [{ field: "owner", is: "=", value: owner }] as const;
        const rows = await disk.store.find({ table: "configs", where, order: "version" });
        const kept = rows.map(({ version }) => Number(version));
        const expected = all.slice(1).map(({ config }) => config.version);
        if (!Bun.deepEquals(kept, expected)) fail(`the history of owner ${owner} has the versions ${kept}`);
        for (const body of rows) row({ body });
      }
      for (const { owner, fate, version } of changes.values()) {
        if (fate === "answered" && versions(owner)[version!] === undefined)
          fail(`version ${version} is lost`);
      }
    },
  };
}

const MAPS = ["modelMapper", "levelMapper", "switchOver", "modelFailover", "modelLimits"] as const;

/** The next configuration, by this room's own few lines. */
function expectedOf(from: OwnerConfig, { change, edits = {} }: Configuring) {
  const before = { ...from, ...change };
  const maps: ConfigChange = Object.fromEntries(
    MAPS.filter((field) => edits[field] !== undefined).map((field) => {
      const { clear, changes } = edits[field]!;
      const map: Record<string, unknown> = clear ? {} : { ...before[field] };
      for (const { pattern, value } of changes) {
        if (value === null) delete map[pattern];
        else if (field === "modelLimits")
          map[pattern] = { ...(map[pattern] as object), ...(value as object) };
        else map[pattern] = value;
      }
      return [field, map];
    }),
  );
  return { ...before, ...maps };
}

/** What a version changed, of a password only whether there is one. */
function changesOf(before: OwnerConfig, after: OwnerConfig): Record<string, unknown> {
  const shown = (config: OwnerConfig): Record<string, unknown> => ({
    ...config,
    emailPass: config.emailPass !== null,
  });
  const [was, is] = [shown(before), shown(after)];
  const changed = Object.keys(is).filter((field) => field !== "version");
  // A password that took another's place: the row says so, and neither of them.
  const differs = (field: string) =>
    field === "emailPass"
      ? !Bun.deepEquals(before.emailPass, after.emailPass)
      : !Bun.deepEquals(was[field], is[field]);
  return Object.fromEntries(
    changed.filter(differs).map((field) => [field, { before: was[field], after: is[field] }]),
  );
}
