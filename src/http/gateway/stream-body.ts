// A response body whose chunks go straight into the client's connection: no queue between and no promise for each of them,
// but where the client reads slowly. It knows nothing of what it carries.

import type { BodySource } from "../../gateway/call.ts";

export function directStream(body: BodySource): ReadableStream<Uint8Array> {
  const source: Bun.DirectUnderlyingSource = {
    type: "direct",
    pull: (client) => body.fill(client),
    cancel: () => body.gone(),
  };
  // The DOM's types, which the project reads, know of no such source.
  return new ReadableStream(source as unknown as UnderlyingDefaultSource<Uint8Array>);
}
