// The demo as a newcomer meets it: it ends well by itself, shows what it promises, and its lines can be pasted.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "../../src/main.ts");

const start = (...args: string[]) =>
  Bun.spawn([process.execPath, MAIN, "demo", ...args], {
    env: { ...process.env, PORT: "0" },
    stdout: "pipe",
    stderr: "pipe",
  });

describe("demo --once", () => {
  let out = "";
  let code = -1;
  beforeAll(async () => {
    const demo = start("--once");
    out = await new Response(demo.stdout).text();
    code = await demo.exited;
  }, 90_000);

  test("every charge is in the ledger: exit code 0", () => {
    expect(out).toContain("Every charge stands in the ledger");
    expect(code).toBe(0);
  });

  test("shows no address and no key of the service, which has ended", () => {
    expect(out).toEndWith("Without --once the service stays, with curl lines to try it.\n");
    expect(out).not.toMatch(/\bcurl http|\/console/);
  });

  test.each(["chat, whole", "chat, streamed", "messages, whole", "messages, streamed"])(
    "shows an answer: %s",
    (label) => {
      expect(out).toMatch(
        new RegExp(`^${label} +(Say hello|Count slowly)\\. \\w+.*\\n +usage +\\{".*_tokens":`, "m"),
      );
    },
  );

  test("shows a chat client's answer from a provider of the messages style, in the words of its own", () => {
    expect(out).toMatch(
      /^chat, translated +Say hello\. \w+.*\n +usage +\{"prompt_tokens":\d+,"completion_tokens":8,.*\n +x-arbor-cost +0\.\d+$/m,
    );
  });

  test("shows vectors, and their charge", () => {
    expect(out).toMatch(/^embeddings +1536 numbers, 1536 numbers\n +usage +\{"prompt_tokens":\d+,/m);
    expect(out).toMatch(/^ +charge +-0\.\d+ .* text-embedding-3-small, \d+\+0 tokens, provider$/m);
  });

  test("shows a failover, and its trace with both attempts", () => {
    expect(out).toMatch(/^ +x-arbor-attempts +2$/m);
    expect(out).toMatch(
      /^ +attempt +Level 1, key \d+: 500 server_error, \d+ ms\n +attempt +Level 1, key \d+: 200 ok/m,
    );
  });
});

describe("demo", () => {
  const demo = start();
  let curls: string[] = [];
  beforeAll(async () => {
    const reader = demo.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let out = "";
    while (!out.includes("Ctrl-C ends")) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the demo ended: ${out}`);
      out += value;
    }
    reader.releaseLock();
    curls = out.replaceAll("\\\n", "").match(/^ +curl .*$/gm) ?? [];
  }, 90_000);
  afterAll(async () => {
    demo.kill("SIGTERM");
    await demo.exited;
  });

  test("prints curl lines for both styles, and each gets its answer", async () => {
    const answers = await Promise.all(curls.map(pasted));
    expect(answers.map(({ status }) => status)).toEqual(Array(7).fill(200));
    const [chat, chatStream, message, messageStream, ledger] = answers.map(({ text }) => text);
    expect(chat).toContain('"object":"chat.completion"');
    expect(chatStream).toMatch(/: cost=0\.\d+\n\ndata: \[DONE\]\n\n$/);
    expect(message).toContain('"type":"message"');
    expect(messageStream).toMatch(/: cost=0\.\d+\n\nevent: message_stop\n.*\n\n$/);
    expect(ledger).toContain('"type":"charge"');
    expect(answers.at(-1)?.text).toContain('"signal":"ok"');
  });
});

/** Does what a pasted curl line would do. */
async function pasted(line: string): Promise<{ status: number; text: string }> {
  const url = /(http:[^\s']+)/.exec(line)![1]!;
  const headers = Array.from(line.matchAll(/-H '([^:]+): ([^']+)'/g), ([, name, value]) => [name!, value!]);
  const body = /-d '([^']+)'/.exec(line)?.[1];
  const response = await fetch(url, {
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { method: "POST", body }),
  });
  return { status: response.status, text: await response.text() };
}
