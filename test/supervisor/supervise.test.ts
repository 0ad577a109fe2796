// The runner of the supervision with processes that are only said to run, on a clock of the test's own: what is started with
// what, a start that the system refuses, signals, and the exit code.

import { expect, test } from "bun:test";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";
import { readPortShare } from "../../src/supervisor/port-share.ts";
import { type ProcessListener, supervise } from "../../src/supervisor/supervise.ts";
import { RESTART_MS_MIN } from "../../src/supervisor/supervision.ts";
import { manualClock } from "../runtime/manual-clock.ts";

const STOP_MS = 10_000;
const SERVING = { url: "http://127.0.0.1:1", adminUrl: "http://127.0.0.1:2" };

function supervised(env: Record<string, string> = {}) {
  const settings = readSettings(
    {
      ...{ STORE_URL: "mongodb://db.example/arborgate", NATS_URL: "nats://nats.example:4222" },
      ...{ PROCESSES: "2", PORT: "0", ADMIN_PORT: "0", ...env },
    },
    false,
  );
  const clock = manualClock();
  const started: { readonly args: readonly string[]; readonly listener: ProcessListener }[] = [];
  const killed: string[] = [];
  const events: string[] = [];
  let signal = (_: string) => {};
  let refusals = 0;
  const code = Promise.resolve().then(() =>
    supervise({
      ...{ settings, clock, node: "gw", below: () => 0, stopMs: STOP_MS },
      log: (_, event) => void events.push(event),
      spawn(args, listener) {
        if (refusals-- > 0) throw new Error("no more processes");
        const nth = started.push({ args, listener });
        return { pid: nth, kill: (how) => void killed.push(`${how} ${nth}`) };
      },
      onSignal: (stop) => {
        signal = stop;
      },
      serves: ({ url }) => void events.push(url),
    }),
  );
  return {
    ...{ code, clock, started, killed, events },
    signal: (name: string) => signal(name),
    refuse(times: number) {
      refusals = times;
    },
  };
}

test("each process gets its number and the same chosen ports", async () => {
  const on = supervised();
  await on.clock.advance(0);
  const shares = on.started.map(({ args }) => readPortShare(args.at(-1)!));
  expect(shares.map(({ process, node }) => `${node} ${process}`)).toEqual(["gw 1", "gw 2"]);
  const [first, second] = shares;
  expect([second!.port, second!.adminPort]).toEqual([first!.port, first!.adminPort]);
  expect(first!.port).not.toBe(first!.adminPort!);
  expect(on.started.every(({ args }) => args.slice(0, 2).join(" ") === "serve --process")).toBe(true);
});

test("a process that the system does not start is tried again, and the first that serves is reported once", async () => {
  const on = supervised();
  await on.clock.advance(0);
  for (const { listener } of on.started) listener.serving(SERVING);
  expect(on.events.filter((event) => event === SERVING.url)).toHaveLength(1);
  on.refuse(2);
  on.started[0]!.listener.ended(null, "SIGKILL");
  await on.clock.advance(RESTART_MS_MIN);
  expect(on.events.filter((event) => event === "process_not_started")).toHaveLength(1);
  await on.clock.advance(RESTART_MS_MIN * 2);
  expect(on.started).toHaveLength(2);
  await on.clock.advance(RESTART_MS_MIN * 4);
  expect(on.started).toHaveLength(3);
});

test("a signal goes on to each, a second one kills what is left, and the last end is the exit code", async () => {
  const on = supervised();
  await on.clock.advance(0);
  for (const { listener } of on.started) listener.serving(SERVING);
  on.signal("SIGTERM");
  expect(on.killed).toEqual(["SIGTERM 1", "SIGTERM 2"]);
  on.started[0]!.listener.ended(0, null);
  on.signal("SIGINT");
  expect(on.killed.slice(2)).toEqual(["SIGKILL 2"]);
  on.started[1]!.listener.ended(null, "SIGKILL");
  expect(await on.code).toBe(1);
  expect(on.clock.waiting).toBe(0);
});

test("what has not ended in the time that it was given is killed", async () => {
  const on = supervised();
  await on.clock.advance(0);
  on.signal("SIGTERM");
  await on.clock.advance(STOP_MS - 1);
  expect(on.killed).toEqual(["SIGTERM 1", "SIGTERM 2"]);
  await on.clock.advance(1);
  expect(on.killed.slice(2)).toEqual(["SIGKILL 1", "SIGKILL 2"]);
});

test("a host that is none of this machine's is refused by name before anything starts", async () => {
  const on = supervised({ HOST: "no-such-host.invalid" });
  await expect(on.code).rejects.toThrow(BadSetting);
  await expect(on.code).rejects.toThrow(/^HOST and PORT: .*"no-such-host\.invalid" is no name/);
  expect(on.started).toEqual([]);
});

test("a port that another program has is refused by name before anything starts", async () => {
  const taken = Bun.serve({ port: 0, hostname: "127.0.0.1", reusePort: true, fetch: () => new Response() });
  try {
    const on = supervised({ PORT: String(taken.port) });
    await expect(on.code).rejects.toThrow(BadSetting);
    await expect(on.code).rejects.toThrow(/^HOST and PORT: nothing can listen at 127\.0\.0\.1/);
    expect(on.started).toEqual([]);
  } finally {
    await taken.stop(true);
  }
});
