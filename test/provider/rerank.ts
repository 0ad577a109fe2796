// The rerank dialect: documents in order of their nearness to a query, in the form of one of three vendors.

import { type Answer, type Ask, answerTo, countWords } from "./answer.ts";
import type { Dialect, Reading, Serving } from "./dialect.ts";
import type { Fields } from "./form.ts";
import { ASK, namedWording, OPENAI, readTexts, refused, wholeNumber } from "./openai.ts";
import { reportedUsage, usageField } from "./reported-usage.ts";
import type { Script, Shape } from "./script.ts";

/** Documents in one search unit. */
const UNIT_DOCUMENTS = 100;

export const rerank: Dialect = {
  ...OPENAI,
  generates: true,
  idPrefix: "rr_",
  read,
  answer,
  whole: (serving) => JSON.stringify(FORMS[serving.script.shape ?? "cohere"](ranksOf(serving), serving)),
  stream: () => [],
  wording: () => namedWording("delta"),
};

/** The text of a document; null when it has none. */
const textOf = (document: unknown): string | null => {
  const text = typeof document === "object" ? (document as { text?: unknown } | null)?.text : document;
  return typeof text === "string" ? text : null;
};

const documentsOf = (body: Fields): readonly (string | null)[] =>
  Array.isArray(body.documents) ? body.documents.map(textOf) : [];

function read(body: Fields): Reading {
  if (typeof body.model !== "string" || body.model === "")
    return refused("you must provide a model parameter", "model");
  if (typeof body.query !== "string") return refused("Missing required parameter: 'query'.", "query");
  const documents = documentsOf(body);
  if (documents.length === 0 || documents.includes(null))
    return refused("Invalid 'documents': a list of texts expected.", "documents");
  const { scripts, said } = readTexts([body.query], body);
  const queryTokens = countWords(said[0]!);
  const ask: Ask = {
    ...ASK,
    model: body.model,
    said: said[0]!,
    promptTokens: documents.reduce((sum, text) => sum + queryTokens + countWords(text!), 0),
  };
  return { ok: true, ask, scripts };
}

function answer(ask: Ask, script: Script, { body }: { readonly body: Fields }): Answer {
  const searchUnits = Math.ceil(documentsOf(body).length / UNIT_DOCUMENTS);
  return { ...answerTo(ask, script), units: { searchUnits } };
}

interface Rank {
  readonly index: number;
  readonly relevance_score: number;
  readonly text: string;
}

/** Documents that share most words with the query first; of equals the earlier. */
function ranksOf({ ask, body }: Serving): Rank[] {
  const query = new Set(ask.said.toLowerCase().split(/\s+/));
  const ranks = documentsOf(body).map((text, index) => {
    const words = text!.toLowerCase().split(/\s+/);
    const shared = words.filter((word) => query.has(word)).length;
    return { index, relevance_score: (shared + 0.01) / (words.length + 0.01), text: text! };
  });
  const most = wholeNumber(body.top_n ?? body.top_k, ranks.length, 1, ranks.length) ?? ranks.length;
  return ranks.toSorted((a, b) => b.relevance_score - a.relevance_score).slice(0, most);
}

const ranked = (ranks: readonly Rank[], body: Fields, asObject: boolean): object[] =>
  ranks.map(({ index, relevance_score, text }) => ({
    index,
    relevance_score,
    ...(body.return_documents === true && { document: asObject ? { text } : text }),
  }));

type Form = (ranks: readonly Rank[], serving: Serving) => object;

const jina: Form = (ranks, { ask, answer, script, body }) => ({
  model: ask.model,
  ...usageField(script, { total_tokens: answer.usage.prompt, prompt_tokens: answer.usage.prompt }),
  results: ranked(ranks, body, true),
});

const FORMS: Readonly<Record<Shape, Form>> = {
  cohere: (ranks, { id, answer, script, body }) => ({
    id,
    results: ranked(ranks, body, true),
    meta: {
      api_version: { version: "2", is_experimental: false },
      billed_units: reportedUsage(script, { search_units: answer.units!.searchUnits! }),
      tokens: reportedUsage(script, { input_tokens: answer.usage.prompt, output_tokens: 0 }),
    },
  }),
  jina,
  openai: jina,
  voyage: (ranks, { ask, answer, script, body }) => ({
    object: "list",
    data: ranked(ranks, body, false),
    model: ask.model,
    ...usageField(script, { total_tokens: answer.usage.prompt }),
  }),
};
