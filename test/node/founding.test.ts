// Root's key of a start that fails behind its founding: it is shown only once, so it must not be lost with the start.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silent } from "../../src/base/log.ts";
import { FailedWithRootKey, startService } from "../../src/node/service.ts";
import { BadSetting, readSettings, type Settings } from "../../src/settings/settings.ts";

test("a shared port that is taken does not lose the key, which is good at the next start", async () => {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-founding-"));
  const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const env = { STORE_URL: `sqlite:${join(directory, "a.db")}`, SPOOL_DIR: join(directory, "spool") };
  const settings: Settings = {
    ...readSettings({ ...env, HOST: "127.0.0.1", PORT: String(taken.port) }, false),
    nodeName: "n-1",
    share: { process: 1, ownPort: null },
  };
  try {
    const failed = await startService(settings, silent).catch((error: unknown) => error);
    if (!(failed instanceof FailedWithRootKey)) throw failed;
    expect(failed.cause).toBeInstanceOf(BadSetting);
    expect(String(failed.cause)).toContain("PORT");
    taken.stop(true);
    const service = await startService(settings, silent);
    try {
      expect(service.rootKey).toBeNull();
      const headers = { authorization: `Bearer ${failed.rootKey}` };
      expect((await fetch(`${service.url}/dashboard/status`, { headers })).status).toBe(200);
    } finally {
      await service.stop();
    }
  } finally {
    taken.stop(true);
    rmSync(directory, { recursive: true });
  }
});
