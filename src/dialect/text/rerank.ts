// The rerank dialect: it orders documents by relevance to a query. Hosts differ in the form of answers and in
// what they charge: search units, or tokens, where the query counts once per document.

import type { Dialect, ModelRequest, ParsedRequest } from "../dialect.ts";
import { isObject, type Json } from "../json.ts";
import type { Payload } from "../payload/payload.ts";
import { promptSizeOf, promptTextsOf } from "../prompt-size.ts";
import { textRequest } from "../text-request.ts";
import { type FieldRule, MODEL_RULE, NOT_OFFERED, neverStreamed, RequestRules } from "../validation.ts";
import { inOneAnswer, READ_ONCE, readListed } from "./list-answers.ts";

/** Limit of documents; no host accepts more. */
const DOCUMENTS_MAX = 10_000;
/** Documents that one search unit covers. */
const DOCUMENTS_PER_UNIT = 100;
/** Characters of a query; no host reads more. */
const QUERY_CHARS_MAX = 32_000;

const REQUIRED: readonly FieldRule[] = [
  MODEL_RULE,
  { field: "query", rule: "must be a non-empty string", holds: (v) => typeof v === "string" && v !== "" },
  {
    field: "documents",
    rule: `must be an array of 1 to ${DOCUMENTS_MAX} strings or objects`,
    holds: (v) => Array.isArray(v) && v.length > 0 && v.length <= DOCUMENTS_MAX && v.every(isDocument),
  },
];

const RULES = new RequestRules(REQUIRED, [neverStreamed("documents are ranked"), ...NOT_OFFERED]);

const isDocument = (value: unknown): boolean => typeof value === "string" || isObject(value);

const QUERY = { withParts: ["query"] };
const DOCUMENTS = { withParts: ["documents"] };

function parse(payload: Payload): ParsedRequest {
  const fault = RULES.broken(payload.value);
  if (fault !== null) return fault;
  const count = countOf(payload);
  const weight = promptSizeOf(payload, DOCUMENTS);
  const bytes = weight.bytes + count * promptSizeOf(payload, QUERY).bytes;
  return {
    ok: true,
    request: {
      ...textRequest(payload, { ...weight, bytes }, READ_ONCE),
      measured: { calls: Math.ceil(count / DOCUMENTS_PER_UNIT) },
      inputs: count,
    },
  };
}

const countOf = ({ value }: Payload): number => ((value as Json).documents as unknown[]).length;

function promptTexts({ payload }: ModelRequest): readonly string[] {
  const [query = ""] = promptTextsOf(payload, QUERY);
  const queries: string[] = new Array(countOf(payload)).fill(query.slice(0, QUERY_CHARS_MAX));
  return [...queries, ...promptTextsOf(payload, DOCUMENTS)];
}

/** The dialect of `/v1/rerank`. */
export const rerank: Dialect = {
  ...inOneAnswer,
  usage: "rerank",
  parse,
  promptTexts,
  readAnswer: readListed(["results", "data"]),
};
