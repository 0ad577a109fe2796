// What the stand-in says in the images dialect, seen through plain fetch and the official client.

import { afterAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { eventsOf, formOf, jsonOf, post } from "./asking.ts";
import { startProvider } from "./provider.ts";

const provider = startProvider();
afterAll(() => provider.close());
const client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: "sk-client-0001", maxRetries: 0 });
const ask = async (extra: object) => jsonOf(await post(provider, "/v1/images/generations", extra));
const png = (name: string) => new File([Buffer.from([137, 80, 78, 71, 0, 255])], name, { type: "image/png" });
const lastCall = () => provider.calls().at(-1)!;

describe("generations", () => {
  test("of an old model are addresses, without usage", async () => {
    const body = await ask({ model: "dall-e-3", prompt: "A cat" });
    expect(body).toEqual({
      created: expect.any(Number),
      data: [{ url: expect.stringMatching(/^https:/), revised_prompt: "A cat" }],
    });
    expect(lastCall()).toMatchObject({ units: { images: 1 }, usage: { prompt: 0, completion: 0 } });
  });

  test("of an old model are base64 when asked", async () => {
    const { data } = await ask({ model: "dall-e-2", prompt: "A cat", n: 3, response_format: "b64_json" });
    expect(data).toHaveLength(3);
    expect(Buffer.from(data[0].b64_json, "base64").toString("latin1")).toStartWith("\x89PNG");
    expect(new Set(data.map((image: { b64_json: string }) => image.b64_json)).size).toBe(3);
    expect(lastCall().units).toEqual({ images: 3 });
  });

  test("of a new model are base64 with usage and looks", async () => {
    const body = await ask({
      model: "gpt-image-1",
      prompt: "A red cat",
      n: 2,
      size: "auto",
      quality: "high",
    });
    expect(body).toMatchObject({
      size: "1024x1024",
      quality: "high",
      output_format: "png",
      background: "opaque",
      usage: {
        input_tokens: 3,
        input_tokens_details: { text_tokens: 3, image_tokens: 0 },
        output_tokens: 544,
        total_tokens: 547,
      },
    });
    expect(lastCall()).toMatchObject({ usage: { prompt: 3, completion: 544 }, units: { images: 2 } });
  });

  test("can be large", async () => {
    const { data } = await ask({ model: "gpt-image-1", prompt: "A [[kb=300]]" });
    expect(data[0].b64_json.length).toBeGreaterThan(300 * 1024);
  });

  test("are streamed in parts, usage with the last", async () => {
    const body = { model: "gpt-image-1", prompt: "A cat [[output=9]]", stream: true, partial_images: 2 };
    const events = await eventsOf(await post(provider, "/v1/images/generations", body));
    expect(events.map(({ type, partial_image_index }) => [type, partial_image_index])).toEqual([
      ["image_generation.partial_image", 0],
      ["image_generation.partial_image", 1],
      ["image_generation.completed", undefined],
    ]);
    expect(events.map(({ usage }) => usage?.output_tokens)).toEqual([undefined, undefined, 9]);
    expect(lastCall()).toMatchObject({ stream: true, usage: { completion: 9 } });
  });

  test("are read by the official client, whole and streamed", async () => {
    const { data } = await client.images.generate({ model: "gpt-image-1", prompt: "A cat" });
    expect(data).toHaveLength(1);
    const stream = await client.images.generate({
      model: "gpt-image-1",
      prompt: "A cat",
      stream: true,
      partial_images: 1,
    });
    const types = (await Array.fromAsync(stream)).map(({ type }) => type);
    expect(types).toEqual(["image_generation.partial_image", "image_generation.completed"]);
  });

  test.each([
    [{ prompt: undefined }, "prompt"],
    [{ n: 11 }, "n"],
    [{ partial_images: 4 }, "partial_images"],
    [{ model: "dall-e-3", stream: true }, "stream"],
    [{ response_format: "url" }, "response_format"],
  ])("lacking sense are a 400: %j", async (extra, param) => {
    const body = { model: "gpt-image-1", prompt: "A cat", ...extra };
    const response = await post(provider, "/v1/images/generations", body);
    expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, param]);
  });

  test("are no form", async () => {
    const form = formOf({ model: "gpt-image-1", prompt: "A cat" });
    expect((await post(provider, "/v1/images/generations", form)).status).toBe(400);
  });
});

describe("edits", () => {
  test("are a form, whose files are remembered", async () => {
    const form = formOf({
      model: "gpt-image-1",
      prompt: "A hat [[image_in=50]]",
      n: "2",
      mask: png("mask.png"),
    });
    form.append("image[]", png("one.png"));
    form.append("image[]", png("two größe.png"));
    const { usage, data } = await jsonOf(await post(provider, "/v1/images/edits", form));
    expect(data).toHaveLength(2);
    expect(usage).toMatchObject({
      input_tokens: 52,
      input_tokens_details: { text_tokens: 2, image_tokens: 50 },
    });
    expect(
      lastCall().files.map(({ field, name, type, sizeBytes }) => [field, name, type, sizeBytes]),
    ).toEqual([
      ["mask", "mask.png", "image/png", 6],
      ["image[]", "one.png", "image/png", 6],
      ["image[]", "two größe.png", "image/png", 6],
    ]);
    expect(lastCall().usage!.imageIn).toBe(50);
  });

  test("are JSON with addresses too", async () => {
    const images = [{ image_url: "https://x.example/a.png" }, { file_id: "file-1" }];
    const response = await post(provider, "/v1/images/edits", {
      model: "gpt-image-1",
      prompt: "A hat",
      images,
    });
    expect((await jsonOf(response)).usage.input_tokens_details.image_tokens).toBe(2 * 194);
  });

  test("are streamed by their own name", async () => {
    const form = formOf({ model: "gpt-image-1", prompt: "A hat", stream: "true", image: png("a.png") });
    const events = await eventsOf(await post(provider, "/v1/images/edits", form));
    expect(events.map(({ type }) => type)).toEqual(["image_edit.completed"]);
  });

  test("need an image", async () => {
    const form = formOf({ model: "gpt-image-1", prompt: "A hat" });
    const response = await post(provider, "/v1/images/edits", form);
    expect([response.status, (await jsonOf(response)).error.param]).toEqual([400, "image"]);
  });

  test("come from the official client", async () => {
    const { data } = await client.images.edit({
      model: "gpt-image-1",
      prompt: "A hat",
      image: [png("a.png"), png("b.png")],
    });
    expect(data).toHaveLength(1);
    expect(lastCall().files).toHaveLength(2);
  });
});

describe("variations", () => {
  test("come from the official client", async () => {
    const { data } = await client.images.createVariation({ model: "dall-e-2", image: png("a.png"), n: 2 });
    expect(data).toHaveLength(2);
    expect(lastCall()).toMatchObject({ model: "dall-e-2", units: { images: 2 }, files: [{ name: "a.png" }] });
  });

  test("are scripted through their user", async () => {
    const form = formOf({ image: png("a.png"), user: "[[fault=503]]" });
    expect((await post(provider, "/v1/images/variations", form)).status).toBe(503);
  });
});
