// The models that the key may call: with prices and limits where it may read those, otherwise by their names alone.

import type { ReactNode } from "react";
import type { Model } from "../api/model-kind.ts";
import { useGet } from "../api/queries.ts";
import { useWords } from "../i18n/language.ts";
import { MODELS } from "../i18n/models.ts";
import { AskedState } from "./asked-state.tsx";
import { Empty } from "./empty.tsx";

/** Shows `children` with the models, of which there is one at least; otherwise what to do about it. `canRead`: the key's scope. */
export function WithMyModels(props: {
  readonly canRead: boolean;
  readonly children: (models: readonly Model[]) => ReactNode;
}) {
  const { canRead, children } = props;
  const words = useWords(MODELS);
  const priced = useGet("/dashboard/models", {}, { enabled: canRead });
  const named = useGet("/v1/models", {}, { enabled: !canRead });
  const shown = (models: readonly Model[]) =>
    models.length === 0 ? <Empty text={words.none} /> : children(models);
  if (canRead) return <AskedState asked={priced}>{({ models }) => shown(models)}</AskedState>;
  return <AskedState asked={named}>{({ data }) => shown(data.map(({ id }) => modelOf(id)))}</AskedState>;
}

const modelOf = (id: string): Model => ({
  ...{ id, provider: "", context_window: 0, max_output_tokens: 0, price: null },
});
