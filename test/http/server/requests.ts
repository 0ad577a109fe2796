// Requests of the server without a socket, as its parser makes them, and what a response says.

import { BytePiece } from "../../../src/base/byte-piece.ts";
import { parseRequestHead } from "../../../src/http/server/parse-request.ts";
import { ServerRequest } from "../../../src/http/server/server-request.ts";
import type { ServerResponse } from "../../../src/http/server/server-response.ts";

/** A request of a client at 192.0.2.1 whose body has arrived. */
export function serverRequest(
  first: string,
  headers: Readonly<Record<string, string>> = {},
  body: string | null = null,
): ServerRequest {
  const fields = Object.entries({ host: "node.example", ...headers });
  const bytes = Buffer.from(body ?? "");
  if (body !== null) fields.push(["content-length", String(bytes.length)]);
  const lines = [`${first} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  const request = new ServerRequest(parseRequestHead(lines.join("\r\n")), {
    clientAddress: "192.0.2.1",
    onBodyAsked() {},
    onRead() {},
  });
  if (bytes.length > 0) request.onBody(BytePiece.of(bytes));
  request.onEnd();
  return request;
}

/** Reads the body of a response to its end; rejects when it breaks off. */
export async function bodyOf({ body }: ServerResponse): Promise<string> {
  if (body === null || typeof body === "string") return body ?? "";
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  if (!("gone" in body)) return body.map((part) => Buffer.from(part as string).toString()).join("");
  let text = "";
  let failed: Error | undefined;
  await body.fill({
    write(part) {
      text += Buffer.from(part as string).toString();
      return part.length;
    },
    close(error) {
      failed = error;
    },
  });
  if (failed !== undefined) throw failed;
  return text;
}
