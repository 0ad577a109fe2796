// A service with an Owner that has very many subaccounts. One of them is made by the service; the others are copies of its document,
// written into the store while the service is stopped: they can be listed, and do nothing else.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../src/base/clock.ts";
import { consoleUpdate } from "../../src/cli/console-build.ts";
import { openStore } from "../../src/store/open.ts";
import { startBench } from "../e2e/harness.ts";
import type { Visited } from "./visit.ts";
import { report } from "./world.ts";

const DOCUMENTS_AT_ONCE = 5_000;
/** A cent in nano-dollars. */
const CENT = 10_000_000;

/** A service with many accounts, to be closed by who made it. */
export interface ManyAccounts extends Visited {
  close(): Promise<void>;
}

/** Makes it: `count` subaccounts of one Owner, called `account-1` and so on, whose balances differ. */
export async function makeManyAccounts(count: number): Promise<ManyAccounts> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-many-"));
  const settings = { STORE_URL: `sqlite:${join(directory, "many.db")}` };
  const first = await startBench({ settings });
  const add = async (key: string, Name: string, CreditGranted: number) => {
    const Email = `${Name}@arborgate.example`;
    const { status, body, text } = await first.call(key, "POST", "/x-users", { Name, Email, CreditGranted });
    if (status !== 200) throw new Error(text);
    return { id: body.User.ID as number, key: body.User.SecretKey as string, name: Name };
  };
  const owner = await add(first.rootKey, "owner-of-many", 1_000);
  const model = await add(owner.key, "account-1", 5);
  await first.close();
  await copyAccount(settings.STORE_URL, model.id, count - 1);
  const bench = await startBench({ settings, console: consoleUpdate(report) });
  return {
    ...{ bench, adminUrl: bench.url, aheadMs: 0, account: () => owner },
    async close() {
      await bench.close();
      rmSync(directory, { recursive: true });
    },
  };
}

/** Writes so many copies of an account's document. */
async function copyAccount(url: string, model: number, count: number): Promise<void> {
  const store = await openStore(url, { clock: realClock(), onError: (error) => console.error(error) });
  const actor = `account/${model}`;
  const snapshot = await store.loadSnapshot(actor);
  const [body] = await store.find({
    ...{ table: "accounts", where: [{ field: "id", is: "=", value: model }], order: "id", limit: 1 },
  });
  if (snapshot === null || body === undefined) throw new Error(`${actor} is not in the store`);
  const begin = await store.reserveIds("account", count);
  for (let from = 0; from < count; from += DOCUMENTS_AT_ONCE) {
    const size = Math.min(DOCUMENTS_AT_ONCE, count - from);
    const documents = Array.from({ length: size }, (_, nth) => {
      const id = begin + from + nth;
      const name = `account-${from + nth + 2}`;
      const balance = (1 + ((id * 7_919) % 100_000)) * CENT;
      const fields = { id, name, nameLower: name, email: `${name}@arborgate.example`, balance };
      return { table: "accounts" as const, id: String(id), seq: snapshot.seq, body: { ...body, ...fields } };
    });
    await store.save([{ documents, snapshot }]);
  }
  await store.close();
}
