// The embeddings dialect: it turns texts or tokens into vectors. `encoding_format` passes unchanged, because
// SDKs request base64 and decode it. Input tokens are charged.

import type { Dialect, ParsedRequest } from "../dialect.ts";
import type { Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import { MODEL_RULE, NOT_OFFERED, neverStreamed, RequestRules } from "../validation.ts";
import { inputs, inputsOf } from "./inputs.ts";
import { inOneAnswer, READ_ONCE, readListed } from "./list-answers.ts";

const READ: ReadFields = { withParts: ["input"] };

const RULES = new RequestRules(
  [MODEL_RULE, inputs("input")],
  [neverStreamed("embeddings come"), ...NOT_OFFERED],
);

function parse(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const { count, tokens } = inputsOf((payload.value as Json).input)!;
  const request = textRequest(payload, promptSizeOf(payload, READ), READ_ONCE);
  return {
    ok: true,
    request: { ...request, inputs: count, ...(tokens === null ? {} : { promptTokens: tokens }) },
  };
}

/** The dialect of `/v1/embeddings`. */
export const embeddings: Dialect = {
  ...inOneAnswer,
  usage: "embeddings",
  parse,
  promptTexts: ({ payload }) => promptTextsOf(payload, READ),
  readAnswer: readListed(["data"]),
};
