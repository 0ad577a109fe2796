// How much memory a large body takes on its way through: the process's peak above its idle memory, in sizes of the body. One
// request alone, and eight at once; an image inside JSON, and sound in a form.

import { join } from "node:path";
import { WrongResult } from "./books.ts";
import { megabytes } from "./figures.ts";
import type { LastBody } from "./large-upstream.ts";
import type { Measure, Row } from "./measure.ts";
import { start } from "./process.ts";
import { onStage, type Stage } from "./stage.ts";

interface Large {
  readonly what: string;
  readonly path: string;
  readonly bytes: number;
  body(): string | FormData;
}

const MB = 1024 * 1024;
const IMAGE_BYTES = 20 * MB;
const SOUND_BYTES = 25 * MB;

const LARGE: readonly Large[] = [
  {
    what: "an image of 20 MB in JSON",
    path: "/v1/chat/completions",
    bytes: IMAGE_BYTES,
    body() {
      const url = `data:image/png;base64,${"iVBORw0K".repeat(IMAGE_BYTES / 8)}`;
      const content = [{ type: "image_url", image_url: { url } }];
      return JSON.stringify({ model: "gpt-4o-mini", messages: [{ role: "user", content }], max_tokens: 16 });
    },
  },
  {
    what: "sound of 25 MB in a form",
    path: "/v1/audio/transcriptions",
    bytes: SOUND_BYTES,
    body() {
      const form = new FormData();
      form.set("model", "gpt-4o-transcribe");
      form.set("file", new File([new Uint8Array(SOUND_BYTES).fill(85)], "tree.mp3"));
      return form;
    },
  },
];
const AT_ONCE = 8;
/** The collector gives memory back in its own time. */
const SETTLE_MS = 3_000;

export const largeBodies: Measure = {
  name: "bodies",
  about: "memory that a large body takes on its way through, one and eight at once",
  run: async () => {
    const rows: Row[] = [];
    // A process for each kind: what one leaves behind must not count as the other's idle memory.
    for (const large of LARGE) rows.push(await onStage({}, (stage) => measureOne(stage, large)));
    return { rows, notes: [] };
  },
};

async function measureOne(stage: Stage, large: Large): Promise<Row> {
  const upstream = await start([join(import.meta.dirname, "large-upstream.ts")]);
  try {
    const [account] = await stage.admin.createOwner({
      name: "large",
      secrets: ["sk-provider-large-0123456789"],
      accounts: 1,
      provider: upstream.url,
    });
    const body = large.body();
    const ask = async () => {
      const response = await fetch(stage.service.url + large.path, {
        method: "POST",
        headers: {
          authorization: `Bearer ${account!.key}`,
          ...(typeof body === "string" && { "content-type": "application/json" }),
        },
        body,
      });
      const text = await response.text();
      if (response.status !== 200) throw new WrongResult(`${response.status} ${text}`);
      const { bytes: came } = (await (await fetch(upstream.url)).json()) as LastBody;
      if (came < large.bytes) throw new WrongResult(`only ${came} of ${large.bytes} bytes came through`);
    };
    const takes = async (requests: number) => {
      await Bun.sleep(SETTLE_MS);
      const idle = stage.service.rssBytes();
      stage.service.forgetPeak();
      await Promise.all(Array.from({ length: requests }, ask));
      return stage.service.peakBytes() - idle;
    };
    const one = await takes(1);
    const many = await takes(AT_ONCE);
    const times = (bytes: number, requests: number) => `× ${(bytes / large.bytes / requests).toFixed(2)}`;
    return {
      what: `Memory for ${large.what}, one and ${AT_ONCE} at once`,
      service: `${megabytes(one)} and ${megabytes(many)} MB`,
      passThrough: "",
      result: `${times(one, 1)} and ${times(many, AT_ONCE)} its size`,
      target: "once",
    };
  } finally {
    await upstream.stop();
  }
}
