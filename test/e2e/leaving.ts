// A client that leaves: asks over a connection of its own, and closes it when the test says so. Asserts nothing.

import { asking, type Bench, until } from "./harness.ts";

/** Asks, and leaves as soon as `when` says so of the bytes that came; answers when the connection is closed. */
export async function leave(
  { url }: Pick<Bench, "url">,
  key: string,
  said: string,
  stream: boolean,
  when: (bytes: number) => boolean,
  { path = "/v1/chat/completions", more = {} }: { readonly path?: string; readonly more?: object } = {},
): Promise<void> {
  const leaving = new AbortController();
  let bytes = 0;
  let over = false;
  const reading = (async () => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...asking(said), stream, ...more }),
      signal: leaving.signal,
    });
    for await (const chunk of response.body!) bytes += chunk.length;
  })()
    .catch((error) => {
      if (!leaving.signal.aborted) throw error;
    })
    .finally(() => {
      over = true;
    });
  await until("it is time to leave", () => over || when(bytes));
  leaving.abort();
  await reading;
}
