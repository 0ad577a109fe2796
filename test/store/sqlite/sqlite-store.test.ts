// The store on SQLite keeps the contract of every store, in memory and on disk.

import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { openSqlite } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { testAudit } from "../../suites/audit.suite.ts";
import { testStore } from "../../suites/store.suite.ts";

const clock = realClock();
const home = mkdtempSync(join(tmpdir(), "arborgate-store-"));
afterAll(() => rmSync(home, { recursive: true }));

testStore("sqlite in memory", () => openSqlite("sqlite::memory:", { clock }));

const urls = new Map<Store, string>();
let opened = 0;
const openAt = async (url: string) => {
  const store = await openSqlite(url, { clock });
  urls.set(store, url);
  return store;
};

testStore("sqlite on disk", () => openAt(`sqlite:${join(home, `${++opened}`, "deep", "store.db")}`), {
  async reopen(store) {
    await store.close();
    return openAt(urls.get(store)!);
  },
});

testAudit("sqlite", async () => {
  const url = `sqlite:${join(home, `${++opened}.db`)}`;
  return { url, store: await openAt(url) };
});
