// `health`: asks the service of this machine whether its process answers, or whether it is ready for requests, for supervisors
// of containers, which have no HTTP client of their own. It asks at the address that the settings state, and reads nothing else.

import { get } from "node:http";
import { urlOf } from "../node/listeners.ts";
import type { Settings } from "../settings/settings.ts";

/** Milliseconds that the answer may take. */
const ANSWER_MS = 3_000;

/** Addresses that mean every interface, and the one of them that a client on this machine can ask. */
const LOOPBACK: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** What came of asking. */
export interface HealthAnswer {
  readonly isWell: boolean;
  /** The address that was asked, and what it answered or why it did not. */
  readonly line: string;
}

/** Asks a probe path at the service's address. Never rejects. */
export async function askHealth(
  { host, port }: Pick<Settings, "host" | "port">,
  path: "/healthz" | "/readyz",
): Promise<HealthAnswer> {
  const url = `${urlOf({ host: LOOPBACK[host] ?? host, port })}${path}`;
  try {
    const { status, body } = await asked(url);
    return { isWell: status === 200, line: `${url}: ${status} ${body.trim()}` };
  } catch (error) {
    return { isWell: false, line: `${url}: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Asks the address itself: `fetch` would ask the proxy that HTTP_PROXY names, which does not reach this machine's loopback. */
function asked(url: string): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { signal: AbortSignal.timeout(ANSWER_MS) }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
      response.on("error", reject);
    });
    request.on("error", reject);
  });
}

/** Prints what came of asking, and sets exit code 1 unless the service is well; with `asksReadiness`, unless it is ready. */
export async function health(settings: Settings, asksReadiness: boolean): Promise<void> {
  const { isWell, line } = await askHealth(settings, asksReadiness ? "/readyz" : "/healthz");
  console.log(line);
  if (!isWell) process.exitCode = 1;
}
