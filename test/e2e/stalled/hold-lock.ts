// Another program that writes: takes the write lock of the database of its first argument, says so, and lets go of it when
// its input ends. Started by stalled-store.test.ts; never imported.

import { Database } from "bun:sqlite";

const db = new Database(process.argv[2]!);
db.run("PRAGMA busy_timeout = 10000");
db.run("BEGIN IMMEDIATE");
console.log("held");
await Bun.stdin.text();
db.run("ROLLBACK");
db.close();
