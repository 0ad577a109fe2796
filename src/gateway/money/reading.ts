// What is handed to the meter of an answer, whole or streamed: what it said and showed, beside what the request asked for.

import type { Measured } from "../../dialect/dialect.ts";
import { measuredOf } from "../../dialect/non-token-usage.ts";
import type { Exchange } from "../codec/provider-codec.ts";
import type { Running } from "../context.ts";
import type { Reading } from "../metering/usage-meter.ts";

/** As far as the answer itself says. */
interface Shown extends Pick<Reading, "usage" | "serviceTier" | "texts" | "chars" | "complete"> {
  readonly measured: Measured;
  /** The model as it names it; left out or null: it names none. */
  readonly model?: string | null | undefined;
}

export const readingOf = (
  { surface, request }: Pick<Running, "surface" | "request">,
  { usage: dialect, sentModel }: Pick<Exchange, "usage" | "sentModel">,
  { usage, serviceTier, texts, chars, complete, measured, model = null }: Shown,
): Reading => ({
  dialect,
  usage,
  serviceTier,
  texts,
  ...(chars === undefined ? {} : { chars }),
  complete,
  answeredModel: model === sentModel ? null : model,
  measured: measuredOf(request.measured, measured),
  prompt: () => surface.dialect.promptTexts(request),
  promptTokens: request.promptTokens ?? null,
});
