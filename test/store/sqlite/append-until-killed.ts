// A writer to be killed: appends to the database of its first argument for ever, and prints each commit that the store
// acknowledged, after keeping an answer and a record for it. Started by sqlite-crash.test.ts; never imported.

import { writeSync } from "node:fs";
import { realClock } from "../../../src/base/clock.ts";
import { openStore } from "../../../src/store/open.ts";
import { commit, document, record, save } from "../../suites/store-samples.ts";

const ACTORS = 20;

const store = await openStore(process.argv[2]!, { clock: realClock() });

async function writeAs(id: number): Promise<never> {
  const actor = `account/${id}`;
  let seq = (await store.readCommits(actor, 0, 1_000_000)).length;
  for (;;) {
    seq++;
    const [answer] = await store.append([commit(actor, seq, { marks: [`charge:${actor}/${seq}`] })]);
    if (answer !== "committed") throw new Error(`${actor} ${seq}: ${answer}`);
    const kept = { account: id, kind: "gateway", at: seq, until: Number.MAX_SAFE_INTEGER } as const;
    await store.keepAnswer({ ...kept, id: `${actor}/${seq}`, body: `answer ${seq}` }, 5);
    const details = `${actor} ${seq}`;
    await store.putRecords([record("logs", { id: id * 1_000_000 + seq, operator: id, details })]);
    // Written at once: what is buffered here dies with the process.
    writeSync(1, `${details}\n`);
    if (seq % 50 === 0) await store.save([save(actor, seq, [document("accounts", String(id), seq, { id })])]);
  }
}

await Promise.all(Array.from({ length: ACTORS }, (_, id) => writeAs(id)));
