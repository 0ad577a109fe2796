// Charges that processes which are no longer started have left in their spools: who takes them, and when.

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeLeftSpools } from "../../src/node/left-spools.ts";
import { startService } from "../../src/node/service.ts";
import { BadSetting, readSettings } from "../../src/settings/settings.ts";
import type { Line } from "./nodes.ts";

describe("charges in spools of processes that are no longer started", () => {
  test("go to the first process, and all others stay", () => {
    const directory = mkdtempSync(join(tmpdir(), "arborgate-spools-"));
    try {
      const put = (process: string, file: string) => {
        mkdirSync(join(directory, process), { recursive: true });
        writeFileSync(join(directory, process, file), "{}");
      };
      put(".", "a.json");
      put("process-2", "b.json");
      put("process-3", "c.json");
      put("process-3", "half.json.part");
      put("process-10", "d.json");
      put("processes", "e.json");
      expect(takeLeftSpools(directory, 2)).toBe(2);
      const there = readdirSync(directory).filter((name) => name.endsWith(".json"));
      expect(there.sort()).toEqual(["a.json", "c.json", "d.json"]);
      expect(existsSync(join(directory, "process-2", "b.json"))).toBe(true);
      expect(existsSync(join(directory, "processes", "e.json"))).toBe(true);
      expect(takeLeftSpools(directory, 2)).toBe(0);
      expect(takeLeftSpools(directory, 1)).toBe(1);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
  test("need no spool to be there", () => {
    expect(takeLeftSpools(join(tmpdir(), "arborgate-no-such-spool"), 1)).toBe(0);
  });
});

describe("a start", () => {
  const LATE = { account: 999, bornAt: 1, facts: { id: "late" } };

  test("beside a service that has the port leaves its spools alone; one that serves takes them, and says how many", async () => {
    const directory = mkdtempSync(join(tmpdir(), "arborgate-spools-"));
    const running = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const left = join(directory, "spool/process-2/late.json");
    mkdirSync(join(directory, "spool/process-2"), { recursive: true });
    writeFileSync(left, JSON.stringify(LATE));
    const lines: Line[] = [];
    const start = (port: number) =>
      startService(
        readSettings(
          {
            ...{ PORT: String(port), STORE_URL: `sqlite:${join(directory, "own.db")}` },
            SPOOL_DIR: join(directory, "spool"),
          },
          false,
        ),
        (level, event, fields = {}) => void lines.push({ level, event, fields }),
      );
    try {
      await expect(start(running.port!)).rejects.toThrow(BadSetting);
      expect(existsSync(left)).toBe(true);
      const service = await start(0);
      await service.stop();
      expect(existsSync(left)).toBe(false);
      expect(lines.filter(({ event }) => event === "left_spools_taken")).toEqual([
        { level: "info", event: "left_spools_taken", fields: { charges: 1 } },
      ]);
    } finally {
      await running.stop(true);
      rmSync(directory, { recursive: true });
    }
  });
});
