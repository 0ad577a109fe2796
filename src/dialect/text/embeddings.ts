// The embeddings dialect: texts, or tokens, turned into vectors. `encoding_format` passes as it came: SDKs ask for base64
// and decode it. Paid for by what was read.

import type { Dialect, Json, Parsed } from "../dialect.ts";
import type { Payload } from "../payload/payload.ts";
import { type ReadFields, textsOf, weightOf } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import { broken, MODEL, NOT_OFFERED, neverStreamed } from "../validation.ts";
import { inputs, inputsOf } from "./inputs.ts";
import { inOneAnswer, READ_ONCE, readListed } from "./list-answers.ts";

const READ: ReadFields = { withParts: ["input"] };

function parse(payload: Payload): Parsed {
  const rules = [neverStreamed("embeddings come"), ...NOT_OFFERED];
  const fault = broken(payload.value, [MODEL, inputs("input")], rules);
  if (fault !== null) return fault;
  const { count, tokens } = inputsOf((payload.value as Json).input)!;
  const request = textRequest(payload, weightOf(payload, READ), READ_ONCE);
  return {
    ok: true,
    request: { ...request, inputs: count, ...(tokens === null ? {} : { promptTokens: tokens }) },
  };
}

export const embeddings: Dialect = {
  ...inOneAnswer,
  usage: "embeddings",
  parse,
  promptTexts: ({ payload }) => textsOf(payload, READ),
  readAnswer: readListed(["data"]),
};
