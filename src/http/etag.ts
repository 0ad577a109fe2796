// Entity tags: a client that has an answer already learns whether it still is the answer, without its body. The tag is a hash of
// the very body, so that it depends on nothing else; it is made after the request was admitted and handled, so that an invalid key
// is refused as always. It knows no endpoint, and changes no answer but by these headers.

import type { HeaderRecord } from "../base/header-reader.ts";

/** Bytes of an answer that is sent while it is made: a longer one has no tag, because all of it would have to be held. */
const STREAM_BYTES_MAX = 524_288;
/** The same of a page, which has 1,000 rows at most: only rows with maps and lists of thousands of entries come to that. */
const PAGE_BYTES_MAX = 8_388_608;

/** Who may keep an answer, and that it is asked for again each time. */
const CACHING = { "cache-control": "private, no-cache", vary: "Authorization" } as const;

const JSON_TYPE = "application/json";

/**
 * Returns an answer with its tag, or 304 without a body where `If-None-Match` has this tag. Undefined for an answer that has
 * none: what is not JSON, and a list that is not paged (it has a total and no page). A stream that is longer than the bounds
 * above is returned without a tag.
 * `headers` are those beside the answer. Source: contract section 8; RFC 9110, section 13.1.2.
 */
export async function taggedAnswer(
  request: Request,
  answer: unknown,
  headers: Readonly<Record<string, unknown>>,
): Promise<Response | undefined> {
  const isPaged = "X-Page" in headers;
  if ("X-Total-Count" in headers && !isPaged) return undefined;
  if (!(answer instanceof Response)) {
    const text = JSON.stringify(answer);
    return withTag(request, text, { "content-type": `${JSON_TYPE};charset=utf-8` });
  }
  const type = answer.headers.get("content-type") ?? "";
  if (answer.status !== 200 || !type.startsWith(JSON_TYPE)) return undefined;
  const whole = await readUpTo(answer.body, isPaged ? PAGE_BYTES_MAX : STREAM_BYTES_MAX);
  const own = Object.fromEntries(answer.headers);
  return whole instanceof ReadableStream
    ? new Response(whole, { headers: { ...own, ...CACHING } })
    : withTag(request, whole, own);
}

/** Formats a time that moves by itself, such as the end of a window that is empty: up to the next second, so that a tag lasts. */
export const wholeSecond = (at: number): string => new Date(Math.ceil(at / 1_000) * 1_000).toISOString();

function withTag(request: Request, body: string | Uint8Array<ArrayBuffer>, headers: HeaderRecord): Response {
  const etag = `"${new Bun.CryptoHasher("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  if (namesTag(request.headers.get("if-none-match"), etag)) {
    return new Response(null, { status: 304, headers: { ...CACHING, etag } });
  }
  return new Response(body, { headers: { ...headers, ...CACHING, etag } });
}

/** A tag, weak or strong. Between its quotes everything visible but quotes may stand, commas too. */
const TAG = /^(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/** The elements of a list, parted by the commas that stand outside of quotes. */
const ELEMENTS = /(?:[^",]|"[^"]*"?)+/g;

/**
 * Whether a value of `If-None-Match` names this tag: `*`, or a list with it. A weak tag equals the strong one. What is no tag is
 * passed over.
 */
export function namesTag(value: string | null, etag: string): boolean {
  if (value === null) return false;
  if (value.trim() === "*") return true;
  return (value.match(ELEMENTS) ?? []).some((element) => TAG.exec(element.trim())?.[1] === etag);
}

/** Reads a stream to its end, or returns one with all of it when it is longer than `most` bytes. */
async function readUpTo(
  body: ReadableStream<Uint8Array> | null,
  most: number,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const pieces: Uint8Array[] = [];
  if (body === null) return Buffer.concat(pieces);
  const reader = body.getReader();
  for (let read = 0; read <= most; ) {
    const { done, value } = await reader.read();
    if (done) return Buffer.concat(pieces);
    pieces.push(value);
    read += value.byteLength;
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces.shift() ?? (await reader.read()).value;
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
