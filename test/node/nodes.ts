// Nodes of a cluster in this process: one NATS server and one database for each test file, a store of its own for each
// cluster. Where a server is not to be had, the tests that need it are skipped, loudly. Nothing here asserts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Log, LogLevel } from "../../src/base/log.ts";
import { type Service, startService } from "../../src/node/service.ts";
import { readSettings } from "../../src/settings/settings.ts";
import { type NatsServer, ownNatsServer } from "../bus/nats-server.ts";
import { dropDatabase, mongoServer, newDatabase } from "../store/mongo-server.ts";

export const ROOT_KEY = "sk-root-of-a-cluster-in-a-test-0123456789";
export const SECRETS_KEY = Buffer.from("a secrets key for tests, 32 byte").toString("base64");

export interface Line {
  readonly level: LogLevel;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Ground {
  readonly storeUrl: string;
  readonly nats: NatsServer;
  /** The settings of a node of this name, or of a command beside it. */
  env(name: string, more?: Record<string, string>): Record<string, string>;
  /** Starts a node in this process. */
  start(name: string, more?: Record<string, string>, signal?: AbortSignal): Promise<Service>;
  /** What the nodes logged. */
  readonly log: Line[];
  /** Ends what still runs. */
  close(): Promise<void>;
}

/** Returns null where a server is missing and `what` is skipped. */
export async function clusterGround(what: string): Promise<Ground | null> {
  const server = await mongoServer(what);
  const nats = server === null ? null : await ownNatsServer(what);
  if (server === null || nats === null) return null;
  const storeUrl = newDatabase(server);
  const directory = mkdtempSync(join(tmpdir(), "arborgate-node-"));
  const running = new Set<Service>();
  const log: Line[] = [];
  const note: Log = (level, event, fields = {}) => void log.push({ level, event, fields });

  const env = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
    ...{ PORT: "0", NODE_NAME: name, STORE_URL: storeUrl, NATS_URL: nats.url, ROOT_KEY, SECRETS_KEY },
    ...{ SPOOL_DIR: join(directory, name), PROVIDER_ALLOW_CIDRS: "127.0.0.0/8" },
    ...{ LB_WAIT_MS: "0", DRAIN_MS: "2000", LOG_LEVEL: "error", API_RPM: "1000000" },
    ...more,
  });
  return {
    ...{ storeUrl, nats, env, log },
    async start(name, more = {}, signal) {
      const service = await startService(readSettings(env(name, more), false), note, signal);
      const one: Service = {
        ...service,
        async stop() {
          if (running.delete(one)) await service.stop();
        },
      };
      running.add(one);
      return one;
    },
    async close() {
      await Promise.all([...running].map((one) => one.stop()));
      await nats.kill();
      await dropDatabase(storeUrl);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
