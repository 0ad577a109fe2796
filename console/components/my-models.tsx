// The models that the key may call: with prices and limits where it may read those, otherwise by their names alone.

import { Anchor, Group } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { isServedHere } from "../api/administration.ts";
import type { Model } from "../api/model-kind.ts";
import { useGet } from "../api/queries.ts";
import { isAllowed, type Status } from "../api/role.ts";
import { useWords } from "../i18n/language.ts";
import { MODELS } from "../i18n/models.ts";
import { AskedState } from "./asked-state.tsx";
import { Empty } from "./empty.tsx";

/** An account without models, and what to do about it: who administrates adds a provider key and routes models to it. */
export function NoModels({ status }: { readonly status: Status }) {
  const words = useWords(MODELS);
  if (!isAllowed(status, "admin")) return <Empty text={words.none} />;
  return (
    <Empty text={words.noneServed}>
      {isServedHere(NEW_PROVIDER_KEY) && (
        <Group gap="md">
          <Anchor component={Link} href={NEW_PROVIDER_KEY} size="sm">
            {words.addProviderKey}
          </Anchor>
          <Anchor component={Link} href="/admin/routing" size="sm">
            {words.openRouting}
          </Anchor>
        </Group>
      )}
    </Empty>
  );
}

const NEW_PROVIDER_KEY = "/admin/pool/new";

/** Shows `children` with the models, of which there is one at least. `status`: who is signed in. */
export function WithMyModels(props: {
  readonly status: Status;
  readonly children: (models: readonly Model[]) => ReactNode;
}) {
  const { status, children } = props;
  const canRead = isAllowed(status, "read");
  const priced = useGet("/dashboard/models", {}, { enabled: canRead });
  const named = useGet("/v1/models", {}, { enabled: !canRead });
  const shown = (models: readonly Model[]) =>
    models.length === 0 ? <NoModels status={status} /> : children(models);
  if (canRead) return <AskedState asked={priced}>{({ models }) => shown(models)}</AskedState>;
  return <AskedState asked={named}>{({ data }) => shown(data.map(({ id }) => modelOf(id)))}</AskedState>;
}

const modelOf = (id: string): Model => ({
  ...{ id, provider: "", context_window: 0, max_output_tokens: 0, price: null },
});
