// Packages that only some services need are loaded by those alone: what a process has loaded stays in its memory, and every
// start pays for it.

import { expect, test } from "bun:test";
import { join } from "node:path";

const SERVE = join(import.meta.dir, "../../src/cli/serve.ts");

/** Packages, and the service that needs each. */
const SOMETIMES = {
  "@nats-io/transport-node": "a node of a cluster",
  "@opentelemetry/sdk-trace": "one that sends traces",
  "gpt-tokenizer": "one whose provider states no usage, on a thread",
  jose: "one with a key of a service account",
  mongodb: "one on MongoDB",
  nodemailer: "one that sends mail",
  "pino-pretty": "one whose log is read on a terminal",
};

test("a service on SQLite loads no package that only others need", () => {
  // In a process of its own, since the tests of this one load all of them.
  const program = `await import(${JSON.stringify(SERVE)}); console.log(JSON.stringify(Object.keys(require.cache)))`;
  const { stdout, stderr } = Bun.spawnSync([process.execPath, "-e", program]);
  expect(`${stderr}`).toBe("");
  const loaded = JSON.parse(`${stdout}`) as string[];
  const isLoaded = (name: string) => loaded.some((path) => path.includes(`/node_modules/${name}/`));
  expect(Object.entries(SOMETIMES).filter(([name]) => isLoaded(name))).toEqual([]);
  // What every service needs is in the same list, so its paths are read rightly.
  expect(["elysia", "pino"].filter((name) => !isLoaded(name))).toEqual([]);
});
