// `verify`: prints the findings of a verification, with a progress bar on a terminal and rare lines
// otherwise. Exits with 1 for any finding.

import { realClock } from "../base/clock.ts";
import { exactUsd, SPENT } from "../report/verify/conservation.ts";
import { LAST_VERIFY, type LastVerify, lastVerifyOf } from "../report/verify/last-verify.ts";
import { type Progress, type Verified, verify } from "../report/verify/verify.ts";
import type { Settings } from "../settings/settings.ts";
import { openAudit, putRegistryRow } from "../store/open.ts";
import { orRefuse } from "./user-error.ts";

/**
 * Verifies the store, prints findings and sums, and sets the exit code. Throws BadSetting when the store
 * cannot be opened.
 */
export async function verifyStore(settings: Settings): Promise<void> {
  const audit = await orRefuse(() => openAudit(settings.storeUrl));
  const began = performance.now();
  // It is closed before the result is kept: on a copy, which has no write-ahead log, a reader keeps the writer out.
  const verified = await verify(audit, process.stderr.isTTY ? bar() : quiet()).finally(() => audit.close());
  const ms = performance.now() - began;
  await keep(settings, lastVerifyOf(verified, realClock().wall(), ms));
  for (const { rule, where, what } of verified.findings) console.log(`${rule}: ${where}: ${what}`);
  console.log(summary(verified, ms / 1000));
  if (verified.findingCount > 0) process.exitCode = 1;
}

/** Keeps the result where `GET /x-cluster` finds it. A store that cannot be written to does without. */
async function keep({ storeUrl }: Settings, result: LastVerify): Promise<void> {
  try {
    await putRegistryRow(storeUrl, LAST_VERIFY, JSON.stringify(result));
  } catch (error) {
    console.error(
      `The result is not kept in the store: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The sums of a verification as readable text. */
export function summary({ totals, findingCount, findings, ...rest }: Verified, seconds: number): string {
  const { minted, balances, inFlight, spent } = totals;
  const unconfirmed = rest.unconfirmedClaims > 0 ? `, ${rest.unconfirmedClaims} not confirmed yet` : "";
  const rows: [string, string][] = [
    ["accounts", String(totals.accounts)],
    ["ledger lines", `${totals.lines} in ${totals.commits} commits`],
    ["claims", `${rest.claims}${unconfirmed}`],
    ["minted", exactUsd(minted)],
    ["balances", exactUsd(balances)],
    ["in flight", exactUsd(inFlight)],
    ...SPENT.map((kind): [string, string] => [kind, exactUsd(spent[kind])]),
  ];
  const pace = `${seconds.toFixed(1)} s, ${Math.round(totals.lines / Math.max(seconds, 0.001))} lines/s`;
  const unnamed = findingCount > findings.length ? `, the first ${findings.length} above` : "";
  const verdict = findingCount === 0 ? "Everything agrees." : `${findingCount} DIFFERENCES${unnamed}.`;
  return [...rows.map(([name, value]) => `${name.padEnd(13)} ${value}`), `${verdict} (${pace})`].join("\n");
}

const BAR_WIDTH = 40;
const BAR_MS = 100;

function bar(): Progress {
  let shown = 0;
  return (done, all) => {
    const now = performance.now();
    if (now - shown < BAR_MS && done < all) return;
    shown = now;
    const part = all === 0 ? 1 : Math.min(1, done / all);
    const filled = Math.round(part * BAR_WIDTH);
    const drawn = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
    process.stderr.write(
      `\r${drawn} ${Math.floor(part * 100)} % of ${all} commits${done >= all ? "\n" : ""}`,
    );
  };
}

const QUIET_MS = 10_000;

/** Reports progress by a line every `QUIET_MS`, for logs. */
function quiet(): Progress {
  let shown = performance.now();
  return (done, all) => {
    const now = performance.now();
    if (now - shown < QUIET_MS) return;
    shown = now;
    console.error(`${done} of ${all} commits`);
  };
}
