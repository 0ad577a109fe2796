// The X-ray of a route: for an account and a model every step, every limit and every provider key in the order in which they are
// tried, with the reason where one is not taken. It is asked again while it is looked at, and sends nothing to a provider.

import { Select, SimpleGrid, Stack } from "@mantine/core";
import { useGet } from "../../../api/queries.ts";
import type { Status } from "../../../api/role.ts";
import { AskedState } from "../../../components/asked-state.tsx";
import { Empty } from "../../../components/empty.tsx";
import { type ExplainedRoute, RouteDecision, RouteLimits } from "../../../components/explained-route.tsx";
import { FilterBar, TextFilter } from "../../../components/filter-bar.tsx";
import { Section } from "../../../components/section.tsx";
import { useStatus } from "../../../frame/status.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROUTE } from "../../../i18n/route.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { isOwnAccount } from "../own-account.ts";
import { XrayCandidates } from "./xray-candidates.tsx";
import { XRAY_QUESTION, type XrayProps, type XrayQuestion } from "./xray-question.ts";
import { XraySteps } from "./xray-steps.tsx";

/** Sleeps end and switch-overs begin while somebody looks. */
const LOOK_MS = 4_000;

const DEFAULT_PATH = "/v1/chat/completions";

/** The question and its answer. */
export default function Xray({ question, change }: XrayProps) {
  const words = useWords(ROUTING);
  const status = useStatus();
  const { user, model } = question;
  const asked = useExplained(question, status);
  return (
    <Stack gap="sm">
      <FilterBar onClear={user || model ? () => change(XRAY_QUESTION) : null}>
        <TextFilter
          label={words.account}
          placeholder={words.accountHint}
          value={user}
          onChange={(text) => change({ user: text, api_key: "" })}
          width={200}
        />
        <TextFilter
          label={words.model}
          placeholder="gpt-4o"
          value={model}
          onChange={(text) => change({ model: text })}
          width={180}
        />
        <ApiKeyFilter question={question} change={change} />
        <TextFilter
          label={words.path}
          placeholder={DEFAULT_PATH}
          value={question.path}
          onChange={(text) => change({ path: text })}
          width={180}
        />
        <TextFilter
          label={words.address}
          placeholder={words.addressHint}
          value={question.ip}
          onChange={(text) => change({ ip: text })}
          width={130}
        />
      </FilterBar>
      {model === "" ? (
        <Empty text={words.ask} />
      ) : (
        <AskedState asked={asked} rows={10}>
          {(route) => <Explained route={route} />}
        </AskedState>
      )}
    </Stack>
  );
}

/** Asks about the account itself, or about one below it: they have endpoints of their own. */
function useExplained({ user, ...query }: XrayQuestion, status: Status) {
  const isOwn = isOwnAccount(status, user);
  const { model, path, ip, api_key } = query;
  const about = { model, path, ip, api_key, ...(isOwn ? {} : { user }) };
  return useGet(isOwn ? "/dashboard/explain" : "/x-explain", about, {
    everyMs: LOOK_MS,
    enabled: model !== "",
  });
}

/** The keys of the account that is asked about. */
function ApiKeyFilter({ question, change }: XrayProps) {
  const words = useWords(ROUTING);
  const status = useStatus();
  const { user, api_key: chosen } = question;
  const keys = useGet("/dashboard/keys", isOwnAccount(status, user) ? {} : { user }, {
    everyMs: 0,
    enabled: question.model !== "",
  });
  const named = keys.data?.keys ?? [];
  return (
    <Select
      label={words.key}
      data={[
        { value: "", label: words.mainKey },
        ...named.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
      value={chosen}
      onChange={(to) => change({ api_key: to ?? "" })}
      allowDeselect={false}
      w={140}
    />
  );
}

function Explained({ route }: { readonly route: ExplainedRoute }) {
  const words = useWords(ROUTE);
  return (
    <Stack gap="sm">
      <RouteDecision route={route} />
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm" verticalSpacing="sm" className="maps">
        <Stack gap="sm">
          <Section title={words.steps}>
            <XraySteps steps={route.steps} />
          </Section>
          {route.limits.length > 0 && (
            <Section title={words.limits}>
              <RouteLimits limits={route.limits} />
            </Section>
          )}
        </Stack>
        <Section title={words.keys}>
          <XrayCandidates route={route} />
        </Section>
      </SimpleGrid>
    </Stack>
  );
}
