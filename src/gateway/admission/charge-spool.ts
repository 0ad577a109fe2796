// Charges that the store could not take in time: one fsynced file each, kept until the ledger has it.
// Written to a temporary name and renamed, so that a file is whole or absent. Needs no order: a charge's id is its mark.
//
// Each node has a directory of its own, on a disk that outlives it; what a dead node left there is charged when it starts
// again, wherever the accounts are served by then. Two processes in one directory do no harm, but are of no use: both send
// the same charges, the ledger takes each once, and whoever hears so first removes the file. Nobody removes a charge that
// the ledger does not have.

import { mkdirSync } from "node:fs";
import { open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { ChargeFacts } from "../../../actors/account/state.ts";
import type { AccountId } from "../../../actors/ids.ts";

export interface SpooledCharge {
  readonly account: AccountId;
  readonly bornAt: number;
  readonly facts: ChargeFacts;
}

export interface ChargeSpool {
  /** Durable when it resolves. */
  keep(late: SpooledCharge): Promise<void>;
  forget(id: string): Promise<void>;
  all(): Promise<SpooledCharge[]>;
}

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

/** What is answered where there is no such file. */
const unlessGone =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code !== "ENOENT") throw error;
    return instead;
  };
