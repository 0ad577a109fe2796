// What the stand-ins of the clouds share: a door before a stand-in provider that checks a call as its cloud would, hands it
// on in the plain dialects, and passes the answer back as it comes. It keeps what came in; secrets are left out.

import { withoutSecrets } from "./keys.ts";
import { type Provider, startProvider } from "./provider.ts";

/** A call as it came to the cloud. */
export interface CloudCall {
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** What proved the key. */
  readonly proof: string;
}

/** A call as the stand-in provider takes it. */
export interface Inside {
  readonly path: "/v1/chat/completions" | "/v1/messages" | "/v1/messages/count_tokens";
  readonly body: object;
  /** As whom: `provider.behave` knows it by this. */
  readonly key: string;
}

export interface Cloud {
  /** Such as `http://127.0.0.1:4011`, without a path. */
  readonly url: string;
  /** Who answers behind the door; `behave` it by what proves a key inside. */
  readonly provider: Provider;
  /** All calls for models that came, oldest first. */
  calls(): readonly CloudCall[];
  close(): void;
}

/** `admit`: a call's way inside, or why there is none. `beside`: answers to other calls than for models. */
export function startCloud(
  admit: (call: CloudCall) => Inside | Response,
  proofOf: (headers: Headers) => string,
  beside: (request: Request) => Promise<Response> | null = () => null,
): Cloud {
  const provider = startProvider();
  const calls: CloudCall[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    async fetch(request) {
      const other = beside(request);
      if (other !== null) return other;
      const url = new URL(request.url);
      const call: CloudCall = {
        path: url.pathname,
        query: url.search.slice(1),
        headers: withoutSecrets(Object.fromEntries(request.headers)),
        body: (await request.json()) as CloudCall["body"],
        proof: proofOf(request.headers),
      };
      calls.push(call);
      const inside = admit(call);
      if (inside instanceof Response) return inside;
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${inside.key}`,
        "anthropic-version": "2023-06-01",
      };
      const body = JSON.stringify(inside.body);
      const { signal } = request;
      return fetch(provider.url + inside.path, { method: "POST", headers, body, signal, redirect: "manual" });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    provider,
    calls: () => calls,
    close() {
      void server.stop(true);
      provider.close();
    },
  };
}

export const refusing = (status: number, body: object): Response => Response.json(body, { status });
