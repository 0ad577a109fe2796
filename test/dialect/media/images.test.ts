// The dialect of images: what is asked as JSON or as a form, what passes on, what an answer counts, and its streams.

import { describe, expect, test } from "bun:test";
import { images, imageVariations } from "../../../src/dialect/media/images.ts";
import { measuredOf } from "../../../src/dialect/non-token-usage.ts";
import type { Payload } from "../../../src/dialect/payload/payload.ts";
import { file, form, json, largeJson, readBack } from "./bodies.ts";

const asked = (payload: Payload, dialect = images) => {
  const parsed = dialect.parse(payload);
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  return parsed.request;
};
const PLAIN = { model: "m", prompt: "a fox" };
const PICTURE = file("png", "a.png", "image/png");

describe("a request is refused for", () => {
  const REFUSED: readonly (readonly [rule: string, body: unknown, field: string, code?: string])[] = [
    ["not being an object", [], "body"],
    ["a missing model", { prompt: "x" }, "model", "missing_parameter"],
    ["a missing prompt", { model: "m" }, "prompt", "missing_parameter"],
    ["an empty prompt", { model: "m", prompt: "" }, "prompt"],
    ["a prompt that is no string", { model: "m", prompt: ["x"] }, "prompt"],
    ["n of 0", { ...PLAIN, n: 0 }, "n"],
    ["n of 129", { ...PLAIN, n: 129 }, "n"],
    ["n as a string", { ...PLAIN, n: "2" }, "n"],
    ["a size that is no string", { ...PLAIN, size: 1024 }, "size"],
    ["a quality that is no string", { ...PLAIN, quality: 1 }, "quality"],
    ["a stream that is no boolean", { ...PLAIN, stream: "true" }, "stream"],
    ["a stream of several images", { ...PLAIN, stream: true, n: 2 }, "n"],
    ["speed fast, which is not priced", { ...PLAIN, speed: "fast" }, "speed"],
  ];
  for (const [rule, body, field, code] of REFUSED) {
    test(rule, () => {
      expect(images.parse(json(body))).toMatchObject({
        ok: false,
        refusal: { field, code: code ?? "invalid_parameter" },
      });
    });
  }
  test("n in a form that is no number", async () => {
    const payload = await form([
      ["model", "m"],
      ["prompt", "x"],
      ["n", "2x"],
      ["image", PICTURE],
    ]);
    expect(images.parse(payload)).toMatchObject({ ok: false, refusal: { field: "n" } });
  });
  test("a field of a form that comes twice", async () => {
    const payload = await form([
      ["model", "m"],
      ["prompt", "x"],
      ["n", "1"],
      ["n", "9"],
    ]);
    expect(images.parse(payload)).toMatchObject({ ok: false, refusal: { field: "n" } });
  });
  test("a file where a field is read", async () => {
    const payload = await form([
      ["model", "m"],
      ["prompt", "x"],
      ["n", file("9", "n.txt")],
    ]);
    expect(images.parse(payload)).toMatchObject({ ok: false, refusal: { field: "n" } });
  });
});

describe("images/generations", () => {
  test("asks for n images of a kind", () => {
    expect(asked(json({ ...PLAIN, n: 3, size: "1024x1792", quality: "hd" }))).toMatchObject({
      ...{ model: "m", n: 3, stream: false, maxOutput: null, promptBytes: 5, images: 0, answerForm: null },
      measured: { calls: 3, image: { size: "1024x1792", quality: "hd" } },
    });
    expect(asked(json(PLAIN)).measured).toEqual({ calls: 1, image: {} });
    expect(asked(json({ ...PLAIN, n: null, size: null, background: "transparent" })).n).toBe(1);
  });
  test("passes on as it came but for the model", () => {
    const request = asked(json({ ...PLAIN, style: "vivid", partial_images: 2 }));
    expect(images.upstreamBody(request, { model: "n", add: {} })).toBe(
      '{"model":"n","prompt":"a fox","style":"vivid","partial_images":2}',
    );
    expect(images.upstreamBody(request, { model: null, add: { v: "1" }, without: ["style"] })).toBe(
      '{"prompt":"a fox","partial_images":2,"v":"1"}',
    );
  });
  test("is counted by its prompt", () => {
    expect(images.promptTexts(asked(json(PLAIN)))).toEqual(["a fox"]);
  });
});

test("a prompt that was left out of a large body, since it looks like base64, is read in full", () => {
  const prompt = "cats-and-dogs-".repeat(1_000);
  const parsed = images.parse(largeJson({ model: "m", prompt }));
  if (!parsed.ok) throw new Error(parsed.refusal.message);
  expect(parsed.request.promptBytes).toBe(prompt.length);
  expect(images.promptTexts(parsed.request)).toEqual([prompt]);
});

describe("images/edits and variations", () => {
  const FIELDS: readonly (readonly [string, string | File])[] = [
    ["image[]", PICTURE],
    ["image[]", file("png2", "b.png", "image/png")],
    ["mask", file("png3", "m.png", "image/png")],
    ["prompt", "a fox"],
    ["model", "m"],
    ["n", "2"],
    ["quality", "high"],
    ["stream", "false"],
  ];
  test("an edit as a form", async () => {
    const request = asked(await form(FIELDS));
    expect(request).toMatchObject({ model: "m", n: 2, images: 3, stream: false });
    expect(request.measured).toEqual({ calls: 2, image: { quality: "high" } });
    expect(request.never).not.toContain("inImage");
    const sent = await readBack(request.payload, images.upstreamBody(request, { model: "näme", add: {} }));
    expect(sent.get("model")).toBe("näme");
    expect(await Promise.all(sent.getAll("image[]").map((one) => (one as File).text()))).toEqual([
      "png",
      "png2",
    ]);
    expect((sent.get("mask") as File).name).toBe("m.png");
  });
  test("an edit as JSON", () => {
    const request = asked(
      json({ ...PLAIN, images: [{ image_url: "data:image/png;base64,AA" }, { file_id: "f" }] }),
    );
    expect(request.images).toBe(2);
  });
  test("a variation, which has no prompt", async () => {
    const payload = await form([
      ["image", PICTURE],
      ["model", "m"],
      ["n", "4"],
      ["size", "256x256"],
    ]);
    const request = asked(payload, imageVariations);
    expect(request.measured).toEqual({ calls: 4, image: { size: "256x256" } });
    expect(imageVariations.promptTexts(request)).toEqual([]);
  });
});

describe("an answer", () => {
  const answer = (body: unknown, more: Record<string, unknown> = {}) =>
    images.readAnswer(
      { text: typeof body === "string" ? body : JSON.stringify(body), contentType: "application/json" },
      asked(json({ ...PLAIN, size: "auto", quality: "auto", ...more })),
    );
  test("counts the images that came, of the kind that it says they are", () => {
    expect(
      answer({ data: [{ url: "u" }, { b64_json: "x" }], size: "1024x1536", quality: "low" }, { n: 3 }),
    ).toMatchObject({
      ok: true,
      usage: null,
      measured: { calls: 2, image: { size: "1024x1536", quality: "low" } },
    });
  });
  test("says nothing of the kind: it is the one that was asked", () => {
    expect(answer({ data: [{}] }, { size: "256x256", quality: null })).toMatchObject({
      measured: { calls: 1, image: { size: "256x256" } },
    });
  });
  test("of a kind longer than any name is of no kind: it stands in the ledger, and in memory", () => {
    const long = "x".repeat(101);
    const of = (body: object) => asked(json({ ...PLAIN, ...body })).measured.image;
    expect(of({ size: long, quality: "hd" })).toEqual({ quality: "hd" });
    expect(of({ size: long.slice(1) })).toEqual({ size: long.slice(1) });
    expect(answer({ data: [{}], size: long, quality: long })).toMatchObject({
      measured: { calls: 1, image: { size: "auto", quality: "auto" } },
    });
  });
  test("has its usage where the provider counts tokens", () => {
    const usage = { input_tokens: 50, output_tokens: 1_056 };
    expect(answer({ data: [{}], usage })).toMatchObject({ ok: true, usage });
  });
  test.each([
    ["that is no JSON", "<html>", "server_error"],
    ["with an error", { error: { message: "no" }, data: [] }, "error_body"],
    ["without data", { created: 1 }, "error_body"],
    ["of code and words", { code: 1, msg: "no", data: [] }, "error_body"],
    ["that is a list", [1], "error_body"],
  ])("%s is a fault", (_what, body, fault) => {
    expect(answer(body)).toEqual({ ok: false, fault: fault as "error_body" });
  });
});

describe("a stream", () => {
  const machine = () => images.stream({ includeUsage: true, fingerprint: null });
  const send = (stream: ReturnType<typeof machine>, event: Record<string, unknown>) =>
    stream.feedData(JSON.stringify(event), String(event.type));

  test.each(["image_generation", "image_edit"])(
    "of %s: parts are content, usage comes with the last event",
    (kind) => {
      const stream = machine();
      expect(send(stream, { type: `${kind}.partial_image`, b64_json: "x", size: "1024x1024" })).toEqual({
        kind: "pass",
        bytes: null,
        content: true,
      });
      expect(stream.delivered).toBe(true);
      // Cut now, the picture may be as good as whole.
      expect(stream.measured).toEqual({ calls: 1, image: { size: "1024x1024" } });
      expect(stream.outcome(true)).toBe("broken");
      const last = { type: `${kind}.completed`, b64_json: "y", quality: "high", usage: { output_tokens: 7 } };
      const done = send(stream, last);
      expect(done).toEqual({
        kind: "done",
        bytes: Buffer.from(`event: ${last.type}\ndata: ${JSON.stringify(last)}\n\n`),
      } as never);
      expect(stream.usage).toEqual({ output_tokens: 7 });
      expect(stream.outcome(false)).toBe("complete");
      expect(measuredOf({ calls: 1, image: { quality: "auto" } }, stream.measured)).toEqual({
        calls: 1,
        image: { size: "1024x1024", quality: "high" },
      });
      expect(send(stream, { type: "more" })).toEqual({ kind: "withheld" });
    },
  );
  test("passes what nobody knows, drops [DONE], and keeps the last event's own bytes", () => {
    const stream = machine();
    expect(send(stream, { type: "new" })).toEqual({ kind: "pass", bytes: null, content: false });
    expect(stream.feedData("[DONE]", "")).toEqual({ kind: "withheld" });
    expect(stream.feed({ raw: Buffer.from(": hi\n\n"), name: "", data: null })).toMatchObject({
      kind: "pass",
    });
    expect(stream.delivered).toBe(false);
    const raw = Buffer.from('id: 1\ndata: {"type":"image_edit.completed"}\n\n');
    const event = { raw, name: "", data: '{"type":"image_edit.completed"}' };
    expect(stream.feed(event)).toEqual({ kind: "done", bytes: raw });
  });
  test.each([
    ["an error event", { type: "error", error: { message: "no" } }],
    ["an error in another event", { type: "image_edit.partial_image", error: { message: "no" } }],
  ])("%s ends it", (_what, event) => {
    const stream = machine();
    expect(send(stream, event)).toEqual({ kind: "error", text: JSON.stringify(event) });
    expect(stream.outcome(true)).toBe("broken");
  });
  test("no JSON ends it, unless the connection cut it", () => {
    expect(machine().feedData("{", "x")).toEqual({ kind: "error", text: "{" });
    const cut = { raw: Buffer.from('data: {"type"'), name: "", data: '{"type"', fault: "cut" as const };
    expect(machine().feed(cut)).toEqual({ kind: "withheld" });
    const large = { raw: new Uint8Array(0), name: "", data: null, fault: "too_large" as const };
    expect(machine().feed(large).kind).toBe("error");
  });
  test("a whole last event counts though the connection ended before its blank line", () => {
    const data = '{"type":"image_edit.completed"}';
    const cut = { raw: Buffer.from(`data: ${data}`), name: "", data, fault: "cut" as const };
    expect(machine().feed(cut)).toEqual({ kind: "done", bytes: Buffer.from(`data: ${data}\n\n`) } as never);
  });
  test("a part that the connection ended before its blank line gets one", () => {
    const data = '{"type":"image_edit.partial_image"}';
    const cut = { raw: Buffer.from(`data: ${data}`), name: "", data, fault: "cut" as const };
    const bytes = Buffer.from(`data: ${data}\n\n`);
    expect(machine().feed(cut)).toEqual({ kind: "pass", bytes, content: true } as never);
  });
  test("nothing at all is empty", () => {
    expect(machine().outcome(true)).toBe("empty");
  });
  test("a failure is said so that clients raise it", () => {
    const bytes = images.streamError({ message: "m", type: "t", code: "c" }, "id");
    expect(Buffer.from(bytes).toString()).toBe(
      'event: error\ndata: {"type":"error","error":{"message":"m","type":"t","code":"c"}}\n\n',
    );
    expect(images.closing.length).toBe(0);
  });
});
