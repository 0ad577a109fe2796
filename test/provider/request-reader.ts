// Reads HTTP/1.1 requests out of the bytes of one connection: heads, fixed and chunked bodies, pipelined requests.
// Lenient and small: its clients are HTTP libraries, not attackers. It never writes.

export interface Incoming {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Names in lower case; of a repeated header the last one. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The body as text, read when it is first asked for. */
  readonly body: string;
}

export interface RequestReader {
  feed(bytes: Buffer): void;
  /** The next complete request, or null until more bytes come. */
  next(): Incoming | null;
  /** True once per request whose client waits for `100 Continue` before it sends the body. */
  wantsContinue(): boolean;
}

interface Head extends Omit<Incoming, "body" | "bytes"> {
  readonly bodyBytes: number | "chunked";
}

export function requestReader(): RequestReader {
  let parts: Buffer[] = [];
  let held = 0;
  // Joining only when enough has come keeps a large body linear in its size.
  let needed = 0;
  let head: Head | null = null;
  let continueAsked = false;

  const keep = (rest: Buffer) => {
    parts = rest.length > 0 ? [rest] : [];
    held = rest.length;
    needed = 0;
  };

  return {
    feed(bytes) {
      parts.push(bytes);
      held += bytes.length;
    },
    next() {
      if (held === 0 || held < needed) return null;
      let bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      if (head === null) {
        const end = bytes.indexOf("\r\n\r\n");
        if (end < 0) {
          keep(bytes);
          return null;
        }
        head = parseHead(bytes.toString("latin1", 0, end));
        continueAsked = head.headers.expect?.toLowerCase() === "100-continue";
        bytes = bytes.subarray(end + 4);
      }
      const found = head.bodyBytes === "chunked" ? chunkedBody(bytes) : fixedBody(bytes, head.bodyBytes);
      keep(found === null ? bytes : found.rest);
      if (found === null) {
        if (head.bodyBytes !== "chunked") needed = head.bodyBytes;
        return null;
      }
      const { bodyBytes: _, ...request } = head;
      head = null;
      continueAsked = false;
      return incoming(request, found.bytes);
    },
    wantsContinue() {
      const asked = continueAsked;
      continueAsked = false;
      return asked;
    },
  };
}

function parseHead(text: string): Head {
  const lines = text.split("\r\n");
  const [method = "", target = "/"] = lines[0]!.split(" ");
  const headers: Record<string, string> = {};
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!;
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const mark = target.indexOf("?");
  return {
    method,
    path: mark < 0 ? target : target.slice(0, mark),
    query: mark < 0 ? "" : target.slice(mark + 1),
    headers,
    bodyBytes:
      headers["transfer-encoding"]?.toLowerCase() === "chunked"
        ? "chunked"
        : Number(headers["content-length"] ?? 0),
  };
}

function incoming(head: Omit<Incoming, "body" | "bytes">, bytes: Buffer): Incoming {
  let text: string | null = null;
  return {
    ...head,
    bytes,
    get body() {
      text ??= bytes.toString("utf8");
      return text;
    },
  };
}

interface Body {
  readonly bytes: Buffer;
  readonly rest: Buffer;
}

function fixedBody(bytes: Buffer, length: number): Body | null {
  if (bytes.length < length) return null;
  return { bytes: bytes.subarray(0, length), rest: bytes.subarray(length) };
}

function chunkedBody(bytes: Buffer): Body | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return null;
    if (size === 0) return { bytes: Buffer.concat(chunks), rest: bytes.subarray(start + 2) };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
