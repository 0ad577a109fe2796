// A form passed on: its fields as the client sent them but for what was set, its files byte for byte; and which forms are
// refused because two readers could read them in two ways.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PARTS_MAX } from "../../../src/dialect/payload/form-parts.ts";
import { makeRoom, ROOM_BYTES } from "../../../src/dialect/payload/patched-bytes.ts";
import type { FieldEdits } from "../../../src/dialect/payload/payload.ts";
import { formPayload } from "../../../src/dialect/payload/payload-form.ts";

const TYPE = "multipart/form-data; boundary=B";

function read(text: string | Uint8Array, type = TYPE) {
  const bytes = Buffer.from(text as string, "utf8");
  const body = makeRoom(bytes.length);
  body.buffer.set(bytes, body.from);
  return formPayload(body, type);
}
function payloadOf(text: string | Uint8Array, type = TYPE) {
  const made = read(text, type);
  if (!made.ok) throw new Error(made.fault);
  return made.payload;
}

const part = (name: string, content: string, more = "") =>
  `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
const file = (name: string, content: string, type = "audio/wav") =>
  `--B\r\nContent-Disposition: form-data; name="${name}"; filename="a.wav"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
const END = "--B--\r\n";
const edited = (text: string, edits: FieldEdits) =>
  Buffer.from(payloadOf(text).edited(edits) as Uint8Array).toString("utf8");

describe("a form is read:", () => {
  test("its text fields, several of one name as a list", () => {
    const text = part("model", "m") + part("g[]", "a") + part("g[]", "b") + part("g[]", "ü") + END;
    expect(payloadOf(text).value).toEqual({ model: "m", "g[]": ["a", "b", "ü"] });
  });
  test("its files, with name, type and bytes where they lie", () => {
    const payload = payloadOf(part("model", "m") + file("file", "RIFF\r\n--A\r\n") + END);
    const [sound] = payload.files;
    expect(sound).toMatchObject({ field: "file", fileName: "a.wav", type: "audio/wav" });
    expect(Buffer.from(sound!.bytes).toString()).toBe("RIFF\r\n--A\r\n");
    expect(payload.value).toEqual({ model: "m" });
  });
  test("a boundary in quotes, and names in every spelling", () => {
    const text = `--B\r\ncontent-disposition:form-data;name=n\r\n\r\n1\r\n${part('a%22b\\"c', "x")}--B--`;
    const type = 'Multipart/Form-Data; charset=utf-8; boundary="B"';
    expect(payloadOf(text, type).value).toEqual({ n: "1", 'a"b"c': "x" });
  });
  test("and passed on as a form of its boundary, whatever else its content type says", () => {
    const typeOf = (boundary: string, more = "") => {
      const text = (part("a", "1") + END).replaceAll("--B", `--${boundary}`);
      return payloadOf(text, `multipart/form-data; boundary="${boundary}"${more}`).contentType;
    };
    expect(typeOf("----WebKitB1", "; charset=utf-16; boundary*=C")).toBe(
      "multipart/form-data; boundary=----WebKitB1",
    );
    expect(typeOf("a b=1")).toBe('multipart/form-data; boundary="a b=1"');
  });
  test("empty contents and an empty line before the first boundary", () => {
    expect(payloadOf(`\r\n${part("a", "")}${END}`).value).toEqual({ a: "" });
  });
  const CLIENTS: readonly (readonly [client: string, boundary: string, head: string])[] = [
    [
      "a browser",
      "----WebKitFormBoundaryAb1",
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav',
    ],
    [
      "a client that names nothing in quotes",
      '"5f0d-4c"',
      "Content-Type: audio/wav\r\nContent-Disposition: form-data; name=file; filename=a.wav; filename*=utf-8''a.wav",
    ],
    [
      "a client that says lengths",
      "c6a1-22",
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\nContent-Length: 4',
    ],
    [
      "a client that says how nothing is encoded",
      "x_-y",
      'Content-Disposition: form-data; name="file"; filename="a.wav"\r\nContent-Type: audio/wav\r\nContent-Transfer-Encoding: binary',
    ],
  ];
  for (const [client, boundary, head] of CLIENTS) {
    test(`as ${client} writes it`, () => {
      const line = `--${boundary.replaceAll('"', "")}`;
      const text = `${line}\r\n${head}\r\n\r\nRIFF\r\n${line}--\r\n`;
      const [sound] = payloadOf(text, `multipart/form-data; boundary=${boundary}`).files;
      expect([sound?.field, sound?.fileName, sound?.type]).toEqual(["file", "a.wav", "audio/wav"]);
      expect(Buffer.from(sound!.bytes).toString()).toBe("RIFF");
    });
  }
  test("a field called __proto__ is a field", () => {
    expect(Object.keys(payloadOf(part("__proto__", "x") + END).value as object)).toEqual(["__proto__"]);
  });
});

describe("a form is refused for", () => {
  const HEAD = '--B\r\nContent-Disposition: form-data; name="a"';
  // biome-ignore format: a table
  const REFUSED: readonly (readonly [rule: string, text: string, fault: string, type?: string])[] = [
    ["a content type without a boundary", END, "boundary", "multipart/form-data"],
    ["two boundaries", END, "boundary", "multipart/form-data; boundary=B; boundary=C"],
    ["a boundary with a control character", (part("a", "1") + END).replaceAll("--B", "--B\x7fB"), "boundary", 'multipart/form-data; boundary="B\x7fB"'],
    ["another boundary than it says", `--C\r\n\r\n--C--`, "begin"],
    ["words before the first boundary", `hi\r\n${part("a", "1")}${END}`, "begin"],
    ["words behind the last boundary", `${part("a", "1")}${END}hi`, "boundary"],
    ["no parts", END, "at least one"],
    ["being empty", "", "begin"],
    ["being cut in a content", part("a", "1").slice(0, -2), "closing"],
    ["being cut in a head", HEAD, "closing"],
    ["being cut before its end", part("a", "1"), "closing"],
    ["line feeds alone", part("a", "1").replaceAll("\r\n", "\n"), "CR and LF"],
    ["a boundary within a line", part("a", "1--B") + END, "nowhere else"],
    ["a boundary behind a line feed alone", part("a", "1\n--B\n") + END, "nowhere else"],
    ["a boundary behind a carriage return alone", part("a", "1\r--B\r") + END, "nowhere else"],
    ["a name that goes on for readers without escapes", part('a\\"; name=\\"b', "1") + END, "name one field"],
    ["a boundary that goes on", part("a", "1\r\n--Bx") + END, "nowhere else"],
    ["a part without a name", `--B\r\nContent-Disposition: form-data; x="a"\r\n\r\n1\r\n${END}`, "name one field"],
    ["a part without a disposition", `--B\r\nContent-Type: text/plain\r\n\r\n1\r\n${END}`, "name one field"],
    ["a part named twice", `${HEAD}; name="b"\r\n\r\n1\r\n${END}`, "name one field"],
    ["a part named in another alphabet's way", `${HEAD}; name*=UTF-8''b\r\n\r\n1\r\n${END}`, "name one field"],
    ["two dispositions", `${HEAD}\r\nContent-Disposition: form-data; name="b"\r\n\r\n1\r\n${END}`, "name one field"],
    ["a disposition over two lines", `${HEAD};\r\n filename="b"\r\n\r\n1\r\n${END}`, "name one field"],
    ["an encoded part", `${HEAD}\r\nContent-Transfer-Encoding: base64\r\n\r\nMQ==\r\n${END}`, "transfer-encoding"],
    ["a head without an end", `${HEAD}\r\nX-A: ${"a".repeat(9_000)}\r\n\r\n1\r\n${END}`, "heads end"],
    ["a head that runs into the next part", `${HEAD}\r\n--B--`, "heads end"],
    ["a text field of over a million bytes", part("a", "x".repeat(1_000_001)) + END, "text fields"],
    ["too many parts", part("a", "1").repeat(PARTS_MAX + 1) + END, "at most"],
  ];
  for (const [rule, text, fault, type] of REFUSED) {
    test(rule, () => {
      const made = read(text, type ?? TYPE);
      expect(made.ok).toBe(false);
      if (!made.ok) expect(made.fault).toContain(fault);
    });
  }

  test("nothing else: no bytes make it throw", () => {
    const token = fc.constantFrom(
      "--B",
      "--B--",
      "\r\n",
      "\r\n\r\n",
      'Content-Disposition: form-data; name="a"',
      ":",
      ";",
      '"',
      "x",
      "\0",
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (tokens) => {
        expect(typeof read(tokens.join("")).ok).toBe("boolean");
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a form is edited:", () => {
  // biome-ignore format: a table
  const CASES: readonly (readonly [rule: string, text: string, edits: FieldEdits, sent: string])[] = [
    ["nothing set is what came", part("a", "1") + END, {}, part("a", "1") + END],
    ["a field where it stands", part("model", "m") + file("f", "x") + END, { model: "näme" }, part("model", "näme") + file("f", "x") + END],
    ["a field behind a file", file("f", "x") + part("model", "m") + END, { model: "" }, file("f", "x") + part("model", "") + END],
    ["a new field before the end", part("a", "1") + END, { n: 2, s: true }, part("a", "1") + part("n", "2") + part("s", "true") + END],
    ["a field that goes", part("a", "1") + part("b", "2") + END, { a: null }, part("b", "2") + END],
    ["the last field that goes", part("a", "1") + part("b", "2") + END, { b: null, c: null }, part("a", "1") + END],
    [
      "a field that stood twice stands once",
      part("a", "1") + part("b", "2") + part("a", "3") + END,
      { a: "4" },
      part("a", "4") + part("b", "2") + END,
    ],
    [
      "a file by the name of a field that is set goes",
      file("model", "x") + part("a", "1") + END,
      { model: "m" },
      part("a", "1") + part("model", "m") + END,
    ],
    ["an object is its JSON", part("a", "1") + END, { o: { x: [1] } }, part("a", "1") + part("o", '{"x":[1]}') + END],
    ["a value cannot make a boundary", part("a", "1") + END, { a: "x\r\n--B--\r\n" }, part("a", "x --B-- ") + END],
  ];
  test.each(CASES)("%s", (_rule, text, given, sent) => {
    expect(edited(text, given)).toBe(sent);
  });

  test("fields and files survive any edits, one after another, bytes much like boundaries included", () => {
    const content = fc
      .array(
        fc.constantFrom("\r\n--", "\r\n--A", "-B\r\n", "\r\n", "B--", "\0", "ÿ", "é", "word", "\n-B\n"),
        { maxLength: 12 },
      )
      .map((pieces) => pieces.join(""))
      .filter((text) => !text.includes("--B"));
    const parts = fc.array(
      fc.record({ name: fc.constantFrom("model", "n", "x"), isFile: fc.boolean(), content }),
      { minLength: 1, maxLength: 6 },
    );
    const value = fc.oneof(fc.constant(null), fc.integer(), fc.constantFrom("", "v", "näme".repeat(40)));
    const sets = fc.array(fc.dictionary(fc.constantFrom("model", "n", "z"), value), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(parts, sets, (given, allEdits) => {
        const text =
          given
            .map((one) => (one.isFile ? file(one.name, one.content) : part(one.name, one.content)))
            .join("") + END;
        const payload = payloadOf(text);
        const hash = payload.hash("");
        for (const edits of allEdits) {
          const sent = Buffer.from(payload.edited(edits) as Uint8Array);
          const names = Object.keys(edits);
          const kept = given.filter((one) => !names.includes(one.name));
          if (kept.length > 0 || names.some((name) => edits[name] !== null)) {
            const again = payloadOf(sent);
            const fields = again.value as Record<string, unknown>;
            for (const name of names)
              expect(fields[name]).toBe(edits[name] === null ? undefined : String(edits[name]));
            expect(again.files.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(
              kept.filter((one) => one.isFile).map((one) => one.content),
            );
            for (const one of kept) expect(sent.includes(one.content)).toBe(true);
          }
          expect(payload.files.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(
            given.filter((one) => one.isFile).map((one) => one.content),
          );
          expect(payload.hash("")).toBe(hash);
        }
        expect(Buffer.from(payload.edited({}) as Uint8Array).toString()).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  test("its files are never copied", () => {
    const text = Buffer.from(part("model", "m") + file("file", "x".repeat(100_000)) + part("n", "1") + END);
    const body = makeRoom(text.length);
    body.buffer.set(text, body.from);
    const made = formPayload(body, TYPE);
    if (!made.ok) throw new Error(made.fault);
    const [sound] = made.payload.files;
    const at = sound!.bytes.byteOffset;
    made.payload.edited({ model: "a longer name", n: 20, z: "new" });
    expect(sound!.bytes.buffer).toBe(body.buffer.buffer);
    // What changed stood before it and behind it: the file did not move at all.
    expect(sound!.bytes.byteOffset).toBe(at);
    expect(at).toBeGreaterThan(ROOM_BYTES);
  });
});

describe("a form's hash", () => {
  const one = part("model", "m") + file("file", "x") + END;
  const hash = (text: string, type = TYPE) => payloadOf(text, type).hash("p");
  test("is the same for the same form in another boundary", () => {
    expect(hash(one.replaceAll("--B", "--Other"), "multipart/form-data; boundary=Other")).toBe(hash(one));
  });
  test.each([
    ["content", one.replace("\r\nx\r\n", "\r\ny\r\n")],
    ["field", one.replace("model", "modem")],
    ["file name", one.replace("a.wav", "b.wav")],
    ["kind", part("model", "m") + part("file", "x") + END],
  ])("is another for another %s", (_what, text) => {
    expect(hash(text)).not.toBe(hash(one));
  });
});
