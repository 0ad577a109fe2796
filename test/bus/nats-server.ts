// NATS servers for tests: NATS_TEST_URL, or a nats-server of the test's own, from PATH or built once with Go into .cache/.
// Where none can be had the tests that need one are skipped, loudly; with CI=true that is a failure.

import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { guarded } from "../children.ts";
import { announceSkipped } from "../skipped.ts";

const VERSION = "v2.15.2";
const BUILT = resolve(import.meta.dir, "../../.cache/nats", VERSION, "nats-server");

export interface NatsServer {
  readonly url: string;
  /** As a power failure would. Every server that a test started ends so. */
  kill(): Promise<void>;
  /** Again on the same port. */
  start(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/** The program, or null where it can neither be found nor built. */
function program(): string | null {
  // Debian keeps it where users do not look.
  const found = Bun.which("nats-server", { PATH: `${process.env.PATH}:/usr/local/sbin:/usr/sbin` });
  if (found !== null) return found;
  return built() ? BUILT : null;
}

function built(): boolean {
  if (Bun.which(BUILT) !== null) return true;
  const go = Bun.which("go");
  if (go === null) return false;
  // Moved into place whole: others may be building too.
  const into = `${dirname(BUILT)}.${process.pid}`;
  mkdirSync(into, { recursive: true });
  const { success } = Bun.spawnSync([go, "install", `github.com/nats-io/nats-server/v2@${VERSION}`], {
    env: { ...process.env, GOBIN: into },
  });
  if (success) {
    mkdirSync(dirname(BUILT), { recursive: true });
    renameSync(join(into, "nats-server"), BUILT);
  }
  rmSync(into, { recursive: true, force: true });
  return success;
}

function missing(what: string): null {
  const why = "no nats-server in PATH, and none could be built with Go";
  if (process.env.CI === "true") throw new Error(`${what}: ${why}`);
  announceSkipped(what, why);
  return null;
}

/** A server that the test alone uses and may kill and freeze; null: `what` is skipped. */
export async function ownNatsServer(what: string, ...options: string[]): Promise<NatsServer | null> {
  const path = program();
  if (path === null) return missing(what);
  const port = freePort();
  let child: Bun.Subprocess | null = null;

  async function start(): Promise<void> {
    child = guarded(
      Bun.spawn([path!, "-a", "127.0.0.1", "-p", String(port), ...options], {
        stdout: "ignore",
        stderr: "ignore",
      }),
    );
    while (!(await answers(port))) {
      if (child.exitCode !== null) throw new Error(`nats-server ended with ${child.exitCode}`);
      await Bun.sleep(20);
    }
  }

  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    async kill() {
      child?.kill("SIGKILL");
      await child?.exited;
    },
    freeze: () => void child?.kill("SIGSTOP"),
    thaw: () => void child?.kill("SIGCONT"),
  };
}

/** A server that stays up, perhaps everybody's; null: `what` is skipped. Who asked for it ends it. */
export async function anyNatsServer(what: string): Promise<Pick<NatsServer, "url" | "kill"> | null> {
  const url = process.env.NATS_TEST_URL;
  return url ? { url, kill: async () => {} } : ownNatsServer(what);
}

function freePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = listener;
  listener.stop(true);
  return port;
}

async function answers(port: number): Promise<boolean> {
  try {
    const received = Promise.withResolvers<void>();
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => received.resolve(), close: () => received.reject(new Error("closed")) },
    });
    await received.promise;
    socket.end();
    return true;
  } catch {
    return false;
  }
}
