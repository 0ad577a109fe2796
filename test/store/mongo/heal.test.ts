// The store on MongoDB after an outage of its line, with everything under way at once and the connections all in use: it is
// itself again soon after the line is, also where the driver is not.

import { afterAll, afterEach, expect, test } from "bun:test";
import { createRequire } from "node:module";
import { realClock } from "../../../src/base/clock.ts";
import { openMongo } from "../../../src/store/mongo/mongo-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { type Line, startLine } from "../../e2e/cluster/line.ts";
import { until } from "../../e2e/harness.ts";
import { commit, document, save } from "../../suites/store-samples.ts";
import { dropDatabase, mongoServer, newDatabase } from "../mongo-server.ts";

/** Within the driver: what writes a command to a socket. */
interface Writer {
  writeCommand(...given: unknown[]): Promise<void>;
}

const clock = realClock();
const server = await mongoServer("an outage of the line to MongoDB");
const { Connection } = createRequire(import.meta.url)("mongodb/lib/cmap/connection.js") as {
  readonly Connection: { readonly prototype: Writer };
};
const { writeCommand } = Connection.prototype;

const OUTAGE_MS = 4_000;
/** From the line's healing until everything is answered: the driver alone never gets there. */
const HEALED_MS = 40_000;
/** More at once than there are connections. */
const ACTORS = 24;

/** A socket that breaks as the driver writes to it leaves the command waiting for ever; here all do. */
function commandsWait(): void {
  Connection.prototype.writeCommand = () => new Promise(() => {});
}

const OUTAGES: readonly (readonly [string, (line: Line) => Promise<void>])[] = [
  ["cut", async (line) => line.cut()],
  ["silent", async (line) => line.freeze()],
  [
    "silent, then cut",
    async (line) => {
      line.freeze();
      await Bun.sleep(OUTAGE_MS / 2);
      line.cut();
    },
  ],
  [
    "cut while commands of the driver wait for ever",
    async (line) => {
      commandsWait();
      line.cut();
    },
  ],
];

/** Every kind of operation, again and again: answers when each was last answered (mono ms). */
function busy(store: Store): { readonly answered: ReadonlyMap<string, number>; stop(): Promise<void> } {
  const answered = new Map<string, number>();
  let stopped = false;
  const loops: Promise<void>[] = [];
  const loop = (kind: string, ask: (turn: number) => Promise<unknown>) => {
    answered.set(kind, 0);
    const run = async () => {
      for (let turn = 1; !stopped; turn++) {
        const from = clock.mono();
        const isAnswer = await ask(turn).then(
          (answer) => !Array.isArray(answer) || !answer.includes("unknown"),
          () => false,
        );
        // What was asked before says nothing about afterwards.
        if (isAnswer) answered.set(kind, Math.max(from, answered.get(kind)!));
        await Bun.sleep(20);
      }
    };
    loops.push(run());
  };
  for (let i = 1; i <= ACTORS; i++) {
    const actor = `account/${i}`;
    loop(`append ${i}`, (turn) => store.append([commit(actor, turn, { by: `${i}/${turn}` })]));
    loop("tail", () => store.readCommits(actor, 0, 3));
    loop("load", () => store.loadSnapshot(actor));
  }
  loop("save", (turn) => store.save([save("account/1", turn, [document("accounts", "1", turn, { id: 1 })])]));
  loop("claim", (turn) => store.claim(`name:${turn}`, 1, "me", 5));
  loop("find", () => store.find({ table: "accounts", where: [], order: "id" }));
  loop("each", () => Array.fromAsync(store.scan({ table: "accounts", where: [], order: "id" })));
  loop("cas", (turn) => store.cas(`row ${turn}`, 0, "a"));
  loop("read", () => store.read("row 1"));
  loop("now", () => store.now());
  const stop = async () => {
    stopped = true;
    await Promise.all(loops);
  };
  return { answered, stop };
}

if (server !== null) {
  const [, host, port] = /^mongodb:\/\/(?:[^@/]*@)?([^:,/]+):(\d+)/.exec(server)!;
  const urls: string[] = [];

  afterEach(() => {
    Connection.prototype.writeCommand = writeCommand;
  });
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  test.each(OUTAGES)(
    "a line that is %s: everything is answered again soon after it has healed",
    async (_, fail) => {
      const url = newDatabase(server);
      urls.push(url);
      const line = await startLine(() => ({ host: host!, port: Number(port) }));
      const through = url.replace(`${host}:${port}`, `127.0.0.1:${line.port}`).replace(/\?.*/, "");
      const store = await openMongo(`${through}?directConnection=true`, { clock });
      const { answered, stop } = busy(store);

      const unanswered = (since: number) =>
        [...answered].filter(([, at]) => at < since).map(([kind]) => kind);
      const begun = clock.mono();
      await until("everything is answered", () => unanswered(begun).length === 0);

      const failing = fail(line);
      await Bun.sleep(OUTAGE_MS);
      await failing;
      Connection.prototype.writeCommand = writeCommand;
      line.heal();

      const healed = clock.mono();
      const isHealed = () => unanswered(healed).length === 0;
      await until("everything is answered again", isHealed, HEALED_MS).catch(() => {});
      expect(unanswered(healed)).toEqual([]);
      await stop();
      await store.close();
      line.close();
    },
    120_000,
  );
}
