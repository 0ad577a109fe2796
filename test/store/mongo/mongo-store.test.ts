// The store on MongoDB keeps the contract of every store.

import { afterAll } from "bun:test";
import { realClock } from "../../../src/base/clock.ts";
import { openMongo } from "../../../src/store/mongo/mongo-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { testStore } from "../../suites/store.suite.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

const clock = realClock();
const server = await mongoServer("the store on MongoDB");

if (server !== null) {
  const urls = new Map<Store, string>();
  afterAll(() => Promise.all([...new Set(urls.values())].map(dropDatabase)));
  const openAt = async (url: string) => {
    const store = await openMongo(url, { clock });
    urls.set(store, url);
    return store;
  };

  testStore("mongodb", () => openAt(newDatabase(server)), {
    async reopen(store) {
      await store.close();
      return openAt(urls.get(store)!);
    },
  });
}
