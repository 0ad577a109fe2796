// Asking the stand-in from a test: one request, its JSON, its events.

import type { Provider } from "./provider.ts";

/** A parsed answer; tests look at it freely. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any field of any answer
export type Json = any;

export const chatBody = (text: string, extra: object = {}) => ({
  model: "gpt-4o",
  messages: [{ role: "user", content: text }],
  ...extra,
});

export const ask = (
  provider: Provider,
  text: string,
  extra: object = {},
  secret = "sk-test-0000",
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${provider.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(chatBody(text, extra)),
    redirect: "manual",
    ...(signal !== undefined && { signal }),
  });

export const jsonOf = (response: Response): Promise<Json> => response.json();

/** The JSON of each event but [DONE]. */
export async function eventsOf(response: Response): Promise<Json[]> {
  const lines = (await response.text()).split(/\r?\n/);
  const data = lines.filter((line) => line.startsWith("data: ") && line !== "data: [DONE]");
  return data.map((line) => JSON.parse(line.slice(6)));
}

/** Waits until something has come true; a test's timeout ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await Bun.sleep(2);
}
