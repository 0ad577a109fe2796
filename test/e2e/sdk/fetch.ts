// No SDK at all: what none of them asks, by plain fetch.

import type { Script } from "./script.ts";

export const plainFetch: Script = {
  async rerank({ url, key, model, said }) {
    const documents = ["apples", "said twice: said", "pears"];
    const response = await fetch(`${url}/v1/rerank`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model, query: said, documents, top_n: 2 }),
    });
    const { results, meta } = (await response.json()) as {
      results: { index: number; relevance_score: number }[];
      meta: { billed_units: { search_units: number } };
    };
    return {
      status: response.status,
      indexes: results.map(({ index }) => index),
      units: meta.billed_units.search_units,
    };
  },
};
