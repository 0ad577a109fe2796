// The thread that writes: what it stores is read beside it at once, and when it ends its owner hears why.

import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realClock } from "../../../src/base/clock.ts";
import { connectSqlite } from "../../../src/store/sqlite/connection.ts";
import { sqliteJournal } from "../../../src/store/sqlite/journal.ts";
import { commitCells } from "../../../src/store/sqlite/ledger-rows.ts";
import { migrate } from "../../../src/store/sqlite/schema.ts";
import type { WriterReply } from "../../../src/store/sqlite/write-messages.ts";
import { startWriterThread } from "../../../src/store/sqlite/writer-thread.ts";
import { commit } from "../../suites/store-samples.ts";

const home = mkdtempSync(join(tmpdir(), "arborgate-thread-"));
afterAll(() => rmSync(home, { recursive: true }));

test("a thread that breaks reports why, and what it acknowledged before is stored", async () => {
  const path = join(home, "broken.db");
  const connection = connectSqlite(path);
  migrate(connection);
  const reply = Promise.withResolvers<WriterReply>();
  const lost = Promise.withResolvers<string>();
  const thread = await startWriterThread({
    path,
    clock: realClock(),
    onReply: reply.resolve,
    onLost: lost.resolve,
  });
  thread.post(commitCells([commit("account/1", 1)]));
  expect(await reply.promise).toEqual({ commits: "c" });
  expect(await sqliteJournal(connection).lastCommit("account/1")).toMatchObject({ seq: 1 });
  thread.post(null as never);
  expect(await lost.promise).toContain("must be started anew");
  connection.close();
});

test("a thread that cannot open its database is refused with the reason", async () => {
  const path = join(home, "missing", "no.db");
  const nobody = () => {};
  const opening = startWriterThread({ path, clock: realClock(), onReply: nobody, onLost: nobody });
  expect(String(await opening.catch((error) => error))).toContain("unable to open");
});
