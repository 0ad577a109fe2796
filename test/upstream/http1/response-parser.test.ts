// The parser of responses: every split of the same bytes gives the same response; what two parsers could read
// differently is an error; what is unbounded is bounded.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ProtocolError } from "../../../src/http1/header-fields.ts";
import type { ResponseHead } from "../../../src/upstream/http1/response-head.ts";
import { ResponseParser } from "../../../src/upstream/http1/response-parser.ts";

interface Parsed {
  readonly heads: ResponseHead[];
  body: string;
  ends: number;
}

function parse(pieces: readonly (string | Uint8Array)[], closes = false): Parsed {
  const parsed: Parsed = { heads: [], body: "", ends: 0 };
  const parser = new ResponseParser({
    onHead: (head) => parsed.heads.push(head),
    onBody(piece) {
      parsed.body += piece.bytes().toString("latin1");
    },
    onEnd() {
      parsed.ends++;
    },
  });
  parser.begin();
  for (const piece of pieces) parser.push(Buffer.from(piece as string, "latin1"));
  if (closes) parser.close();
  return parsed;
}

const CHUNKED =
  'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;name="a\\"b"\r\nhello\r\nA\r\n, 12345678\r\n0\r\nx-trailer: 1\r\n\r\n';

describe("framing", () => {
  test.each([
    ["a length", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello", "hello"],
    ["the same length twice", "HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello", "hello"],
    ["no body at 204", "HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n", ""],
    ["no body at length 0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", ""],
    ["chunks, extensions, trailers, an interim response", CHUNKED, "hello, 12345678"],
    ["lines that end with LF", "HTTP/1.1 200 OK\ncontent-length: 2\n\nhi", "hi"],
  ])("%s, however the bytes are split", (_, bytes, body) => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((end, i) => bytes.slice(at[i], end));
        const parsed = parse(pieces);
        expect([parsed.heads.length, parsed.body, parsed.ends]).toEqual([1, body, 1]);
      }),
      { numRuns: 200 },
    );
  });

  test("a body without a length ends with the connection, which carries nothing after it", () => {
    const parsed = parse(["HTTP/1.1 200 OK\r\n\r\nhel", "lo"], true);
    expect([parsed.body, parsed.ends, parsed.heads[0]!.isReusable]).toEqual(["hello", 1, false]);
  });

  test.each([
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true],
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close\r\n\r\n", false],
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: x, close\r\n\r\n", false],
    ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false],
    ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\nconnection: keep-alive\r\n\r\n", true],
  ])("%j: reusable %p", (bytes, isReusable) => {
    expect(parse([bytes]).heads[0]!.isReusable).toBe(isReusable);
  });

  test("repeated fields are joined, names are found in any case", () => {
    const { headers } = parse(["HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a:  2 \r\ncontent-length: 0\r\n\r\n"])
      .heads[0]!;
    expect([headers.get("x-A"), headers.has("X-a"), headers.get("x-b")]).toEqual(["1, 2", true, null]);
  });
});

describe("what is refused", () => {
  const length = "HTTP/1.1 200 OK\r\ncontent-length: 1\r\n";
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
  test.each([
    ["another protocol", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["another version", "HTTP/2 200 OK\r\n\r\n"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
    ["a change of protocol", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["interim responses for ever", "HTTP/1.1 100 Continue\r\n\r\n".repeat(17)],
    ["two lengths", `${length}content-length: 2\r\n\r\n`],
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"],
    ["a length and chunks", `${length}transfer-encoding: chunked\r\n\r\n`],
    ["chunks of HTTP/1.0", "HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"],
    ["another transfer coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n"],
    ["a folded line", "HTTP/1.1 200 OK\r\na: b\r\n c\r\n\r\n"],
    ["a blank before the colon", "HTTP/1.1 200 OK\r\na : b\r\n\r\n"],
    ["a line without a colon", "HTTP/1.1 200 OK\r\nabc\r\n\r\n"],
    ["a NUL in a value", "HTTP/1.1 200 OK\r\na: \0\r\n\r\n"],
    ["a CR in a value", "HTTP/1.1 200 OK\r\na: b\rc: d\r\n\r\n"],
    ["a head of more than 64 KB", `HTTP/1.1 200 OK\r\na: ${"x".repeat(70_000)}`],
    ["more than 256 fields", `HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(257)}\r\n`],
    ["a chunk size that is no number", `${chunked}xyz\r\n`],
    ["a negative chunk size", `${chunked}-1\r\n`],
    ["a chunk longer than its size", `${chunked}1\r\nab\r\n`],
    ["a chunk line for ever", `${chunked}1;${"x".repeat(5_000)}`],
    ["trailers for ever", `${chunked}0\r\n${"a: b\r\n".repeat(4_000)}`],
    ["bytes behind the response", `${length}\r\nab`],
  ])("%s", (_, bytes) => {
    expect(() => parse([bytes])).toThrow(ProtocolError);
  });

  test.each([
    ["within the head", length],
    ["within the body", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na"],
    ["within a chunk", `${chunked}5\r\nab`],
    ["before the last chunk", `${chunked}2\r\nab\r\n`],
    ["before the end of the trailers", `${chunked}0\r\n`],
  ])("an end of the connection %s", (_, bytes) => {
    expect(() => parse([bytes], true)).toThrow(ProtocolError);
  });

  test("no bytes make it throw anything else", () => {
    const words = [
      "HTTP/1.1 200 OK\r\n",
      "\r\n",
      "\n",
      "content-length: 3\r\n",
      "transfer-encoding: chunked\r\n",
      "3\r\nabc\r\n",
      "0\r\n",
      "abc",
      ":",
      "\0",
    ];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 4 })), { maxLength: 20 }),
        (pieces) => {
          try {
            parse(pieces, true);
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
          }
        },
      ),
      { numRuns: 3_000 },
    );
  });
});
