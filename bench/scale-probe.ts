// Somebody else's requests, one after another, while a service has other things to do: an account's status, and a chat
// request to the upstream. A process of its own, so that what it measures is not what its starter is busy with.
// `bun scale-probe.ts URL KEY` begins at once, and prints its samples when its input ends.

import { bodyText, STYLES } from "./styles.ts";

/** Milliseconds that each request took. */
export interface Probed {
  readonly status: number[];
  readonly chat: number[];
}

const PAUSE_MS = 4;

async function probe(url: string, key: string): Promise<Probed> {
  const probed: Probed = { status: [], chat: [] };
  const asks = {
    status: () => fetch(`${url}/dashboard/status`, { headers: { authorization: `Bearer ${key}` } }),
    chat: () =>
      fetch(url + STYLES.chat.path, {
        method: "POST",
        headers: { ...STYLES.chat.headers(key), "content-type": "application/json" },
        body: bodyText("chat", { stream: false }),
      }),
  };
  let ended = false;
  const loop = async (name: keyof Probed) => {
    while (!ended) {
      const began = performance.now();
      const response = await asks[name]();
      const text = await response.text();
      probed[name].push(performance.now() - began);
      if (!response.ok) throw new Error(`${response.status} ${text}`);
      await Bun.sleep(PAUSE_MS);
    }
  };
  const loops = Promise.all([loop("status"), loop("chat")]);
  const input = Bun.stdin.stream().getReader();
  while (!(await Promise.race([input.read(), loops.then(() => ({ done: true }))])).done);
  ended = true;
  await loops;
  return probed;
}

/** Probes while `work` runs. */
export async function probing<T>(
  url: string,
  key: string,
  work: () => Promise<T>,
): Promise<{ readonly probed: Probed; readonly result: T }> {
  const child = Bun.spawn([process.execPath, import.meta.path, url, key], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  // Until it is warm.
  await Bun.sleep(500);
  const result = await work();
  await child.stdin.end();
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("somebody else's request went wrong");
  const { status, chat } = JSON.parse(text) as Probed;
  return { probed: { status: status.slice(WARM_UP), chat: chat.slice(WARM_UP) }, result };
}

const WARM_UP = 20;

if (import.meta.main) {
  const [url = "", key = ""] = process.argv.slice(2);
  console.log(JSON.stringify(await probe(url, key)));
}
