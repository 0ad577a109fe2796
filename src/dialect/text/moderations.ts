// The moderations dialect: it classifies texts and images by the provider's policy. If priced, it is charged
// per call.

import type { Dialect, ParsedRequest } from "../dialect.ts";
import { isObject, type Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf, type ReadFields } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import { type FieldRule, MODEL_RULE, NOT_OFFERED, neverStreamed, RequestRules } from "../validation.ts";
import { inOneAnswer, READ_ONCE, readListed } from "./list-answers.ts";

const INPUT: FieldRule = {
  field: "input",
  rule: "must be a string, or a non-empty array of strings or of objects",
  holds: (v) =>
    typeof v === "string" ||
    (Array.isArray(v) && v.length > 0 && (v.every((one) => typeof one === "string") || v.every(isObject))),
};

const READ: ReadFields = { withParts: ["input"] };
const ONE_CALL = { calls: 1 };

/** The model if the client names none, as SDKs expect. */
const MODEL_OTHERWISE = "omni-moderation-latest";

const RULES = new RequestRules([INPUT], [MODEL_RULE, neverStreamed("an input is judged"), ...NOT_OFFERED]);

function parse(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const { model } = payload.value as Json;
  const request = textRequest(payload, promptSizeOf(payload, READ), READ_ONCE);
  return {
    ok: true,
    request: {
      ...request,
      model: typeof model === "string" ? model : MODEL_OTHERWISE,
      measured: ONE_CALL,
    },
  };
}

/** The dialect of `/v1/moderations`. */
export const moderations: Dialect = {
  ...inOneAnswer,
  usage: "embeddings",
  parse,
  promptTexts: ({ payload }) => promptTextsOf(payload, READ),
  readAnswer: readListed(["results"], ONE_CALL),
};
