// `demo`: shows the main path with real clients of both API styles, a real store and a stand-in provider on
// loopback. All data lies in a temporary directory, which is removed at the end. Exits with 1 when a charge
// and the ledger disagree.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startProvider } from "../../test/provider/provider.ts";
import { createLog } from "../node/logging.ts";
import { startService } from "../node/service.ts";
import { readSettings } from "../settings/settings.ts";
import { consoleUpdate } from "./console-build.ts";
import {
  CHAT_MODEL,
  CREDIT,
  call,
  createDemoAccounts,
  type DemoAccounts,
  MESSAGES_MODEL,
} from "./demo-accounts.ts";
import {
  chatClient,
  chatStreamed,
  chatTranslated,
  chatWhole,
  type DemoAnswer,
  messagesClient,
  messagesStreamed,
  messagesWhole,
  vectors,
} from "./demo-requests.ts";

/** Runs the demo and prints it. `once` ends it without waiting for Ctrl-C, and without the commands that would need it. */
export async function demo(once: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "arborgate-demo-"));
  const settings = readSettings(
    {
      PORT: process.env.PORT ?? "8080",
      STORE_URL: `sqlite:${join(directory, "demo.db")}`,
      SPOOL_DIR: join(directory, "spool"),
      PROVIDER_ALLOW_CIDRS: "127.0.0.0/8",
      LOG_LEVEL: "error",
    },
    process.stderr.isTTY,
  );
  const provider = startProvider();
  const log = await createLog(settings);
  const consoleSource = consoleUpdate(log);
  const service = await startService(settings, log, undefined, consoleSource);
  consoleSource.start();
  const { url } = service;
  const leave = async (code: number) => {
    await service.stop();
    provider.close();
    rmSync(directory, { recursive: true });
    process.exit(code);
  };
  process.on("SIGINT", () => void leave(0));
  process.on("SIGTERM", () => void leave(0));

  const accounts = await createDemoAccounts(url, service.rootKey!, provider);
  console.log(`arborgate demo on ${url}, its stand-in provider on ${provider.url}

Root created the Owner acme (100 USD). acme added two provider keys of the chat style to Level ${CHAT_MODEL.level}, two of the
messages style to Level ${MESSAGES_MODEL.level}, and created the subaccount team-blue (${CREDIT} USD), which asks:
`);
  const chat = chatClient(url, accounts.userKey);
  const messages = messagesClient(url, accounts.userKey);
  const answers = [
    await chatWhole(chat, "Say hello. [[output=8]]"),
    await chatStreamed(chat, "Count slowly. [[output=12]]"),
    await messagesWhole(messages, "Say hello. [[output=8]]"),
    await messagesStreamed(messages, "Count slowly. [[output=12]]"),
    await chatTranslated(chat, "Say hello. [[output=8]]"),
    await vectors(chat, ["two texts", "one vector for each"]),
  ];

  console.log(
    "\nNow one of Level 1's two keys answers every call with 500. Keys take turns: of two requests one or both",
  );
  console.log("meet it, are sent on to the other key, and their client notices nothing.\n");
  provider.behave(CHAT_MODEL.secrets[0]!, "fault=500");
  const beside = [
    await chatWhole(chat, "Are you there? [[output=4]]"),
    await chatWhole(chat, "And now? [[output=3]]"),
  ];
  provider.behave(CHAT_MODEL.secrets[0]!, null);
  const failedOver = beside.find(({ attempts }) => attempts === 2);
  if (failedOver !== undefined) await showTrace(url, accounts, failedOver);

  const booked = await showLedger(url, accounts, [...answers, ...beside]);
  const sound = booked && failedOver !== undefined;
  console.log(
    booked ? "\nEvery charge stands in the ledger, and the balance is their sum." : "\nTHE LEDGER DISAGREES.",
  );
  if (failedOver === undefined) console.log("NO REQUEST WAS SENT ON TO ANOTHER KEY.");
  if (once && sound) console.log("Without --once the service stays, with curl lines to try it.");
  if (once || !sound) return leave(sound ? 0 : 1);
  showCommands(url, accounts);
  console.log("Ctrl-C ends the demo and removes its data.");
}

/** Prints the trace of a request, as its Owner may see it. */
async function showTrace(url: string, { ownerKey }: DemoAccounts, { request }: DemoAnswer): Promise<void> {
  const explain = (query: string) => call(url, ownerKey, "GET", `/x-explain?user=team-blue&${query}`);
  const { steps } = await explain(`model=${CHAT_MODEL.model}`);
  const { attempts } = await explain(`request=${encodeURIComponent(request)}`);
  console.log(`\nthe trace of request ${request} (x-arbor-attempts: ${attempts.length}):`);
  for (const { step, in: from, out, note } of steps) {
    console.log(`  ${step.padEnd(16)} ${from} -> ${out}${note === undefined ? "" : `  (${note})`}`);
  }
  for (const { key_id, level, status, signal, ms } of attempts) {
    console.log(`  ${"attempt".padEnd(16)} Level ${level}, key ${key_id}: ${status} ${signal}, ${ms} ms`);
  }
}

/** Converts dollars to whole nano-dollars, whose sums are exact. */
const nano = (usd: number | string): number => Math.round(Number(usd) * 1e9);

/**
 * Prints the account's ledger. Returns whether each answer has exactly one charge of the cost that it
 * reported, and the balance is the credit less their sum.
 */
async function showLedger(
  url: string,
  { userKey }: DemoAccounts,
  answers: readonly DemoAnswer[],
): Promise<boolean> {
  const { lines } = await call(url, userKey, "GET", "/dashboard/ledger");
  const { balance } = await call(url, userKey, "GET", "/dashboard/status");
  console.log("\nledger of team-blue, newest first:");
  for (const line of lines) {
    const model = `${line.model}, ${line.prompt_tokens}+${line.completion_tokens} tokens, ${line.basis}`;
    const amount = Number(line.amount).toFixed(9).padStart(14);
    console.log(
      `  ${line.type.padEnd(12)} ${amount}  balance ${Number(line.balance_after).toFixed(9)}` +
        (line.model === undefined ? "" : `  ${model}`),
    );
  }
  const charges = lines.filter((line: { type: string }) => line.type === "charge");
  const isBooked = ({ request, cost }: DemoAnswer): boolean => {
    const own = charges.filter((line: { request_id: string }) => line.request_id === request);
    return own.length === 1 && own[0].amount < 0 && (cost === null || -nano(own[0].amount) === nano(cost));
  };
  const spent = charges.reduce((sum: number, line: { amount: number }) => sum - nano(line.amount), 0);
  return (
    charges.length === answers.length && answers.every(isBooked) && nano(balance) === nano(CREDIT) - spent
  );
}

function showCommands(url: string, { rootKey, ownerKey, keyId, userKey }: DemoAccounts): void {
  const hi = '"messages":[{"role":"user","content":"Hi"}]';
  console.log(`
Try it, in the chat style:
  curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${userKey}' \\
    -d '{"model":"${CHAT_MODEL.model}",${hi}}'
  curl -N ${url}/v1/chat/completions -H 'Authorization: Bearer ${userKey}' -H 'x-arbor-cost: stream' \\
    -d '{"model":"${CHAT_MODEL.model}","stream":true,${hi}}'
in the messages style:
  curl ${url}/v1/messages -H 'x-api-key: ${userKey}' -H 'anthropic-version: 2023-06-01' \\
    -d '{"model":"${MESSAGES_MODEL.model}","max_tokens":100,${hi}}'
  curl -N ${url}/v1/messages -H 'x-api-key: ${userKey}' -H 'anthropic-version: 2023-06-01' -H 'x-arbor-cost: stream' \\
    -d '{"model":"${MESSAGES_MODEL.model}","max_tokens":100,"stream":true,${hi}}'
and what became of it:
  curl ${url}/dashboard/ledger -H 'Authorization: Bearer ${userKey}'
  curl '${url}/dashboard/explain?model=${CHAT_MODEL.model}' -H 'Authorization: Bearer ${userKey}'
Does a provider key work? Its Owner may try:
  curl ${url}/x-keys/${keyId}/test -H 'Authorization: Bearer ${ownerKey}' \\
    -d '{"model":"${MESSAGES_MODEL.model}"}'

All of it in pages, as who signs in there: ${url}/console
  Root: ${rootKey}
  the Owner acme: ${ownerKey}
  team-blue: ${userKey}
`);
}
