// The harness itself: a line that is cut, frozen and slowed, and children that do not outlive who started them.

import { afterEach, expect, test } from "bun:test";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { until } from "../harness.ts";
import { type Line, startLine } from "./line.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that says back what it hears, and a line to it. */
async function echo(sleep?: (ms: number) => Promise<void>): Promise<Line> {
  const server: Server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const line = await startLine(() => ({ host: "127.0.0.1", port }), sleep);
  closing.push(() => server.close(), line.close);
  return line;
}

interface Talk {
  say(text: string): void;
  received: string;
  closed: boolean;
}

async function talk(line: Line): Promise<Talk> {
  const talk: Talk = { say: () => {}, received: "", closed: false };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port: line.port,
    socket: {
      data(_, data) {
        talk.received += data.toString();
      },
      close() {
        talk.closed = true;
      },
    },
  });
  talk.say = (text) => void socket.write(text);
  closing.push(() => void socket.end());
  return talk;
}

test("what is said on a frozen line arrives in order when it thaws, on connections made meanwhile too", async () => {
  const line = await echo();
  const one = await talk(line);
  one.say("a");
  await until("it arrives", () => one.received === "a");
  line.freeze();
  one.say("b");
  const other = await talk(line);
  other.say("x");
  await Bun.sleep(50);
  one.say("c");
  await Bun.sleep(50);
  expect([one.received, other.received]).toEqual(["a", ""]);
  line.heal();
  one.say("d");
  await until("all arrives", () => one.received === "abcd" && other.received === "x");
  expect([one.closed, other.closed]).toEqual([false, false]);
});

test("a cut line breaks its connections and every new one until it heals", async () => {
  const line = await echo();
  const one = await talk(line);
  one.say("a");
  await until("it arrives", () => one.received === "a");
  line.cut();
  await until("it is broken", () => one.closed);
  const other = await talk(line);
  await until("so is the next", () => other.closed);
  line.heal();
  const third = await talk(line);
  third.say("b");
  await until("it arrives", () => third.received === "b");
});

test("a slow line delays each way", async () => {
  const waits: { readonly ms: number; readonly end: () => void }[] = [];
  const line = await echo((ms) => new Promise((end) => void waits.push({ ms, end })));
  const one = await talk(line);
  line.slow(60_000);
  one.say("a");
  await until("it waits on its way there", () => waits.length === 1);
  waits[0]!.end();
  await until("it waits on its way back", () => waits.length === 2);
  expect(one.received).toBe("");
  waits[1]!.end();
  await until("it arrives", () => one.received === "a");
  for (const { ms } of waits) expect(ms).toBeWithin(1, 60_001);
});

test("children of a process that is killed end with it, frozen ones too", async () => {
  const program = `
    const { startChild } = await import(${JSON.stringify(join(import.meta.dir, "../../children.ts"))});
    const [gone, frozen, awake] = [1, 2, 3].map(() => startChild(["sleep", "100"]));
    gone.signal("SIGKILL");
    await gone.exited;
    frozen.signal("SIGSTOP");
    console.log(frozen.pid + " " + awake.pid);
    await awake.exited;`;
  const parent = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe" });
  let said = "";
  for await (const chunk of parent.stdout) {
    said += new TextDecoder().decode(chunk);
    if (said.includes("\n")) break;
  }
  const pids = said.trim().split(" ").map(Number);
  expect(pids).toHaveLength(2);
  expect(pids.every(isAlive)).toBe(true);
  parent.kill("SIGKILL");
  await until("they are gone", () => !pids.some(isAlive));
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
