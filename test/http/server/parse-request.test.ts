// Heads and bodies of requests: every split of the same bytes is the same requests, and what a proxy could read differently is
// an error.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseRequestHead, RequestParser } from "../../../src/http/server/parse-request.ts";
import { ProtocolError } from "../../../src/http1/header-fields.ts";

/** Method, target and body of each request in the bytes. */
function requestsIn(pieces: readonly string[]): string[] {
  const found: string[] = [];
  let ended = false;
  const parser = new RequestParser({
    onHead: ({ method, target }) => void found.push(`${method} ${target} `),
    onBody(piece) {
      found[found.length - 1] += piece.bytes().toString("latin1");
    },
    onEnd() {
      ended = true;
    },
  });
  parser.begin();
  for (const piece of pieces) {
    const bytes = Buffer.from(piece, "latin1");
    for (let at = 0; at < bytes.length; ) {
      at = parser.take(bytes, at);
      if (ended) parser.begin();
      ended = false;
    }
  }
  return found;
}

const SEVERAL =
  "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n" +
  "POST /b HTTP/1.1\r\nhost: x\r\nContent-Length: 5\r\n\r\nhello" +
  "\r\nPOST /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: Chunked\r\n\r\n3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nx: y\r\n\r\n" +
  "DELETE /d HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n";

test("requests, however the bytes are split", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: SEVERAL.length }), { maxLength: 20 }), (cuts) => {
      const at = [0, ...cuts.sort((a, b) => a - b), SEVERAL.length];
      const pieces = at.slice(1).map((end, i) => SEVERAL.slice(at[i], end));
      expect(requestsIn(pieces)).toEqual(["GET /a?b=c ", "POST /b hello", "POST /c abcde", "DELETE /d "]);
    }),
    { numRuns: 300 },
  );
});

const HEAD = "POST / HTTP/1.1\r\nhost: x\r\n";

describe("what is no request", () => {
  test.each([
    ["no version", "GET /\r\n\r\n"],
    ["HTTP/2", "PRI * HTTP/2.0\r\n\r\n"],
    ["a blank in the target", "GET /a b HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["two blanks", "GET  / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a control character in the target", "GET /\x01 HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a method that is no token", "G(T / HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a target that is no path", "GET a/b HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["no Host", "GET / HTTP/1.1\r\n\r\n"],
    ["two Hosts", "GET / HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\n"],
    ...["x/y", "x\\y", "x?y", "x#y", "x@y", "x y"].map((host) => [
      `the Host ${host}`,
      `GET / HTTP/1.1\r\nhost: ${host}\r\n\r\n`,
    ]),
    ["a folded line", `${HEAD}a: b\r\n c\r\n\r\n`],
    ["a blank before the colon", `${HEAD}content-length : 3\r\n\r\nabc`],
    ["a name that is empty", `${HEAD}: b\r\n\r\n`],
    ["a line end of LF alone", "GET / HTTP/1.1\r\nhost: x\na: b\r\n\r\n"],
    ["a request line that ends with LF alone", "GET / HTTP/1.1\nhost: x\r\n\r\n"],
    ["a CR within a value", `${HEAD}a: b\rc: d\r\n\r\n`],
    ["a NUL within a value", `${HEAD}a: b\0\r\n\r\n`],
    ["a control character within a value", `${HEAD}a: b\x01c\r\n\r\n`],
    ["chunks behind a vertical tab", `${HEAD}transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
    ["chunks before a form feed", `${HEAD}transfer-encoding: chunked\x0c\r\n\r\n0\r\n\r\n`],
    ["chunks behind a no-break space", `${HEAD}transfer-encoding: \xa0chunked\r\n\r\n0\r\n\r\n`],
    ["a length behind a no-break space", `${HEAD}content-length: \xa03\r\n\r\nabc`],
    ["a length with one in its list", `${HEAD}content-length: 3,\xa03\r\n\r\nabc`],
    ["length and chunks", `${HEAD}content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n`],
    ["chunks twice", `${HEAD}transfer-encoding: chunked, chunked\r\n\r\n`],
    ["a coding beside chunks", `${HEAD}transfer-encoding: gzip, chunked\r\n\r\n`],
    ["a coding that is not chunks", `${HEAD}transfer-encoding: identity\r\n\r\n`],
    ["chunks in HTTP/1.0", "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["two lengths", `${HEAD}content-length: 3\r\ncontent-length: 4\r\n\r\n`],
    ["a length with a sign", `${HEAD}content-length: +3\r\n\r\n`],
    ["a length in hexadecimal", `${HEAD}content-length: 0x3\r\n\r\n`],
    ["a length that is empty", `${HEAD}content-length:\r\n\r\n`],
    ["a chunk without a size", `${HEAD}transfer-encoding: chunked\r\n\r\nhello\r\n`],
    ["a chunk with a negative size", `${HEAD}transfer-encoding: chunked\r\n\r\n-1\r\n\r\n`],
    ["a chunk longer than it says", `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`],
    ["a size that ends with LF alone", `${HEAD}transfer-encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n`],
    ["a chunk that ends with LF alone", `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nab\n0\r\n\r\n`],
    ["an endless head", `${HEAD}a: ${"b".repeat(70_000)}`],
    ["too many fields", `${HEAD}${"a: b\r\n".repeat(300)}\r\n`],
    ["an endless size", `${HEAD}transfer-encoding: chunked\r\n\r\n2;${"a".repeat(5_000)}`],
    ["endless trailers", `${HEAD}transfer-encoding: chunked\r\n\r\n0\r\n${"a: b\r\n".repeat(4_000)}`],
  ])("%s", (_, bytes) => {
    expect(() => requestsIn([bytes])).toThrow(ProtocolError);
    // Nor byte by byte.
    expect(() => requestsIn([...bytes])).toThrow(ProtocolError);
  });
});

describe("a head", () => {
  const headOf = (...lines: string[]) => parseRequestHead(lines.join("\r\n"));

  test.each([
    ["/a?b", "/a?b"],
    ["http://x.example/a?b", "/a?b"],
    ["HTTPS://x.example:8443/a", "/a"],
    ["http://x.example", "/"],
    ["http://x.example?b", "/?b"],
    ["*", "*"],
    ["//a/b", "//a/b"],
  ])("the target %s is the path %s", (target, path) => {
    expect(headOf(`GET ${target} HTTP/1.1`, "host: x").target).toBe(path);
  });

  test.each([
    ["HTTP/1.1", [], true],
    ["HTTP/1.1", ["connection: close"], false],
    ["HTTP/1.1", ["connection: TE, Close"], false],
    ["HTTP/1.1", ["connection: keep-alive"], true],
    ["HTTP/1.0", [], false],
    // It would have to be confirmed, for clients that hardly exist.
    ["HTTP/1.0", ["connection: keep-alive"], false],
  ])("%s with %p keeps its connection: %p", (version, fields, stays) => {
    expect(headOf(`GET / ${version}`, "host: x", ...fields).staysOpen).toBe(stays);
  });

  test("a value has no blanks around it", () => {
    const { headers } = headOf("GET / HTTP/1.1", "host: x", "a: \t b c\t ", "d:", "e: \t");
    expect([headers.get("a"), headers.get("d"), headers.get("e")]).toEqual(["b c", "", ""]);
  });

  test("the same length twice is one", () => {
    const { framing } = headOf("POST / HTTP/1.1", "host: x", "content-length: 3", "content-length: 3");
    expect(framing).toEqual({ kind: "length", bytes: 3 });
  });
});
