// Charges that the store could not take in time: one fsynced file each, kept until the ledger has the charge.
// A file is written under a temporary name and renamed, so that it is complete or absent. Order does not
// matter: a charge's id is its dedup id.
//
// Each node has a directory of its own on a disk that outlives the process. The charges that a dead node left
// are sent when it starts again, whichever nodes own the accounts by then. Two processes on one directory are
// harmless but useless: both send the same charges, the ledger takes each once, and the first to get the
// confirmation removes the file. A file is never removed before the ledger has its charge.

import { mkdirSync } from "node:fs";
import { open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

/** A charge in the spool. `bornAt` is the wall-clock ms of the first try. */
export interface SpooledCharge {
  readonly account: AccountId;
  readonly bornAt: number;
  readonly facts: ChargeFacts;
}

/** The spool of one node. */
export interface ChargeSpool {
  /** Writes a charge. Durable when it resolves. */
  keep(late: SpooledCharge): Promise<void>;
  /** Removes a charge that the ledger has. Does nothing for an unknown id. */
  forget(id: string): Promise<void>;
  /** Returns all charges in the spool. */
  all(): Promise<SpooledCharge[]>;
}

/** Creates a spool in a directory, which is created at the first charge unless it is there. */
export function createFileSpool(directory: string): ChargeSpool {
  const pathOf = (id: string) => join(directory, `${id}.json`);

  async function syncDirectory(): Promise<void> {
    const handle = await open(directory, "r");
    await handle.sync();
    await handle.close();
  }

  return {
    async keep(late) {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      const temporary = `${pathOf(late.facts.id)}.part`;
      const file = await open(temporary, "w", 0o600);
      await file.writeFile(JSON.stringify(late));
      await file.sync();
      await file.close();
      await rename(temporary, pathOf(late.facts.id));
      await syncDirectory();
    },
    async forget(id) {
      await unlink(pathOf(id)).catch(unlessGone(undefined));
    },
    async all() {
      const names = await readdir(directory).catch(unlessGone([]));
      const texts = names
        .filter((name) => name.endsWith(".json"))
        .map((name) => readFile(join(directory, name), "utf8").catch(unlessGone(null)));
      return (await Promise.all(texts)).flatMap((text): SpooledCharge[] =>
        text === null ? [] : [JSON.parse(text)],
      );
    },
  };
}

/** Returns a handler that replaces the error of a missing file by a value. */
const unlessGone =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== "ENOENT") throw error;
    return instead;
  };
