// `demo`: the main path for a newcomer's eyes, with real clients, a real store and a stand-in provider on loopback.
// Everything lies in a temporary directory and goes with it. Exits 1 when a charge and the ledger disagree.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI from "openai";
import { startProvider } from "../../test/provider/provider.ts";
import { createLog } from "../logging.ts";
import { startService } from "../service.ts";
import { readSettings } from "../settings.ts";

const MODEL = "gpt-4o-mini";

export async function demo(once: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-demo-"));
  const settings = readSettings(
    {
      PORT: process.env.PORT ?? "8080",
      STORE_URL: `sqlite:${join(directory, "demo.db")}`,
      SPOOL_DIR: join(directory, "spool"),
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_LEVEL: "warn",
    },
    process.stderr.isTTY,
  );
  const provider = startProvider();
  const service = await startService(settings, createLog(settings));
  const leave = async (code: number) => {
    await service.stop();
    await provider.close();
    rmSync(directory, { recursive: true });
    process.exit(code);
  };
  process.on("SIGINT", () => void leave(0));
  process.on("SIGTERM", () => void leave(0));

  const rootKey = service.rootKey!;
  const owner = await call(service.url, rootKey, "POST", "/x-users", {
    Name: "acme",
    Email: "owner@acme.example",
    CreditGranted: 100,
  });
  const ownerKey: string = owner.User.SecretKey;
  for (const name of ["first", "second"]) {
    await call(service.url, ownerKey, "POST", "/x-keys", {
      Name: name,
      Level: 1,
      Provider: provider.url,
      SecretKey: `sk-provider-${name}-0123456789`,
    });
  }
  await call(service.url, ownerKey, "PUT", "/x-config", { LEVEL_MAPPER: "gpt-*=1" });
  const user = await call(service.url, ownerKey, "POST", "/x-users", {
    Name: "team-blue",
    Email: "blue@acme.example",
    CreditGranted: 10,
  });
  const userKey: string = user.User.SecretKey;

  console.log(`arborgate demo on ${service.url}, its stand-in provider on ${provider.url}\n`);
  console.log(
    `Root created the Owner acme (100 USD); acme added two keys to Level 1 and the subaccount team-blue (10 USD).\n`,
  );

  const client = new OpenAI({ apiKey: userKey, baseURL: `${service.url}/v1` });
  const whole = await client.chat.completions
    .create({ model: MODEL, messages: [{ role: "user", content: "Say hello. [[output=8]]" }] })
    .withResponse();
  console.log("chat, whole:    ", whole.data.choices[0]?.message.content);
  console.log("  usage         ", JSON.stringify(whole.data.usage));
  console.log("  x-arbor-cost  ", whole.response.headers.get("x-arbor-cost"), "\n");

  const stream = await client.chat.completions.create({
    model: MODEL,
    messages: [{ role: "user", content: "Count slowly. [[output=12]]" }],
    stream: true,
    stream_options: { include_usage: true },
  });
  process.stdout.write("chat, streamed:  ");
  for await (const chunk of stream) {
    process.stdout.write(chunk.choices[0]?.delta.content ?? "");
    if (chunk.usage) console.log(`\n  usage          ${JSON.stringify(chunk.usage)}`);
  }

  const ledger = await call(service.url, userKey, "GET", "/dashboard/ledger");
  const status = await call(service.url, userKey, "GET", "/dashboard/status");
  console.log("\nledger of team-blue, newest first:");
  for (const line of ledger.lines) {
    console.log(
      `  ${line.type.padEnd(12)} ${String(line.amount).padStart(14)}  balance ${line.balance_after}` +
        (line.model === undefined
          ? ""
          : `  ${line.model}, ${line.prompt_tokens}+${line.completion_tokens} tokens, ${line.basis}`),
    );
  }
  const charged = ledger.lines.filter((line: { type: string }) => line.type === "charge");
  const agrees =
    charged.length === 2 &&
    charged.some(
      (line: { amount: number }) => -line.amount === Number(whole.response.headers.get("x-arbor-cost")),
    ) &&
    ledger.lines[0].balance_after === status.balance;
  console.log(
    agrees ? "\nEvery charge stands in the ledger, and the balance is their sum." : "\nTHE LEDGER DISAGREES.",
  );

  console.log(`
Try it:
  curl ${service.url}/v1/chat/completions -H 'Authorization: Bearer ${userKey}' \\
    -d '{"model":"${MODEL}","messages":[{"role":"user","content":"Hi"}]}'
  curl -N ${service.url}/v1/chat/completions -H 'Authorization: Bearer ${userKey}' -H 'x-arbor-cost: stream' \\
    -d '{"model":"${MODEL}","stream":true,"messages":[{"role":"user","content":"Hi"}]}'
  curl ${service.url}/dashboard/ledger -H 'Authorization: Bearer ${userKey}'

Root's key: ${rootKey}
Owner's key: ${ownerKey}
`);
  if (once || !agrees) return leave(agrees ? 0 : 1);
  console.log("Ctrl-C ends the demo and removes its data.");
}

// biome-ignore lint/suspicious/noExplicitAny: the demo reads answers as a stranger's script would
async function call(url: string, key: string, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
