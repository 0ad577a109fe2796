// `npm run cluster -- --once` as a newcomer meets it: three nodes, a request through each, every charge in the ledger once,
// and nothing of it left behind.

import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { clusterGround } from "./nodes.ts";

const SCRIPT = join(import.meta.dirname, "../../scripts/cluster.ts");

const ground = await clusterGround("npm run cluster");
if (ground !== null) {
  await ground.close();
  describe("npm run cluster -- --once", () => {
    let out = "";
    let code = -1;
    beforeAll(async () => {
      const child = Bun.spawn([process.execPath, SCRIPT, "--once"], {
        env: { ...process.env, PORT: "0" },
        stdout: "pipe",
        stderr: "inherit",
      });
      out = await new Response(child.stdout).text();
      code = await child.exited;
    }, 90_000);

    test("every charge is in the ledger, once: exit code 0", () => {
      expect(out).toContain("Every charge stands in the ledger, once.");
      expect(out.match(/^ {2}charge /gm)).toHaveLength(3);
      expect(code).toBe(0);
    });

    test.each(["a", "b", "c"])("shows an answer through node %s, and the node in the cluster", (name) => {
      expect(out).toMatch(new RegExp(`^through node ${name}\\nchat, whole +Hello, ${name}\\. `, "m"));
      expect(out).toMatch(new RegExp(`^ +node ${name}: up, \\d+ of 256 shards, version \\d`, "m"));
    });

    test("prints addresses, Root's key, and curl lines for each node and for /x-cluster", () => {
      expect(out).toMatch(/^Root's key: sk-\w{48}$/m);
      const urls = [...out.matchAll(/^node \w +(http:\S+)/gm)].map(([, url]) => url!);
      expect(urls).toHaveLength(3);
      for (const url of urls) expect(out).toContain(`curl ${url}/v1/chat/completions`);
      expect(out).toContain(`curl ${urls[0]}/x-cluster`);
    });

    test("leaves no process behind", () => {
      const pids = [...out.matchAll(/\(process (\d+)\)/g)].map(([, pid]) => Number(pid));
      expect(pids).toHaveLength(3);
      for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow();
    });
  });
}
