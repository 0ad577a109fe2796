// One model: what it costs this account, its limits, and code to copy.

import { Anchor, Group, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { countText } from "../../api/amount.ts";
import { kindOf, type Model, priceIn } from "../../api/model-kind.ts";
import { isAllowed } from "../../api/role.ts";
import { Sheet } from "../../components/dialog.tsx";
import { RequestCode } from "../../components/request-code.tsx";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { MODELS } from "../../i18n/models.ts";
import { SHELL } from "../../i18n/shell.ts";
import { PRICE_FIELDS } from "./model-prices.tsx";

/** The sheet of a model. `limits` are those of the account, as texts. */
export function ModelSheet(props: {
  readonly model: Model;
  readonly limits: readonly string[];
  readonly onClose: () => void;
}) {
  const { model, limits, onClose } = props;
  const words = useWords(MODELS);
  const status = useStatus();
  const kind = kindOf(model.id, model.price);
  return (
    <Sheet onClose={onClose} title={model.id}>
      <Stack gap="sm">
        <Facts model={model} limits={limits} />
        <Group gap="md">
          {kind === "chat" && isAllowed(status, "invoke") && (
            <Anchor component={Link} size="sm" href={`/playground?model=${encodeURIComponent(model.id)}`}>
              {words.tryIt}
            </Anchor>
          )}
          <Anchor component={Link} size="sm" href={`/limits?model=${encodeURIComponent(model.id)}`}>
            {words.route}
          </Anchor>
          <Anchor size="sm" href="/swagger">
            {words.document}
          </Anchor>
        </Group>
        <Text size="sm" fw={600}>
          {words.code}
        </Text>
        <RequestCode model={model.id} kind={kind} />
      </Stack>
    </Sheet>
  );
}

function Facts({ model, limits }: { readonly model: Model; readonly limits: readonly string[] }) {
  const words = useWords(MODELS);
  const { noData, none } = useWords(SHELL);
  const { price } = model;
  const tokens = (count: number) => (count === 0 ? noData : countText(count));
  const priced = PRICE_FIELDS.flatMap((field) => {
    const figure = priceIn(price, field);
    const unit = field === "Call" ? words.perCall : words.perMillion;
    return figure !== null ? [[words.price[field], `${countText(figure)} ${unit}`] as const] : [];
  });
  const sizes = Object.entries(price?.Sizes ?? {}).map(
    ([size, figure]) => [words.size(size), `${countText(figure)} ${words.perCall}`] as const,
  );
  const rows: readonly (readonly [string, ReactNode])[] = [
    [words.provider, model.provider || noData],
    [words.context, tokens(model.context_window)],
    [words.output, tokens(model.max_output_tokens)],
    [words.limits, limits.join(" · ") || none],
    ...priced,
    ...sizes,
    ...(priced.length + sizes.length === 0 ? [[words.prices, words.noPrice] as const] : []),
  ];
  return (
    <Table variant="vertical" layout="fixed" verticalSpacing={3} fz="sm">
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th w={160}>{label}</Table.Th>
            <Table.Td className="figure">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
