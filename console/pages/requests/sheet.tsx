// One request at the side of the list: what it was, what it cost and why, where it went, or why it was refused. Its ledger line,
// its explanation and its row of the latest requests are asked for; what is not kept any more is left out.

import { Drawer, Stack, Text } from "@mantine/core";
import { questionAbout, useAccountGet, useAccountView } from "../../api/account-view.ts";
import type { CallFailed } from "../../api/failure.ts";
import { CopyCurl } from "../../components/copy.tsx";
import { Empty } from "../../components/empty.tsx";
import { FailureNotice } from "../../components/failure-notice.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import { AttemptList } from "./attempts.tsx";
import { EquationOf } from "./equation.tsx";
import { RequestFacts } from "./facts.tsx";
import type { KnownRequest } from "./known-request.ts";
import { RECENT_ROWS } from "./recent.tsx";
import { RouteNow } from "./route-now.tsx";
import { WhyRefused } from "./why-refused.tsx";

/** The sheet of a request, by its own id or by the `x-request-id` that its client saw. */
export default function RequestSheet(props: { readonly request: string; readonly onClose: () => void }) {
  const { request, onClose } = props;
  const words = useWords(REQUESTS);
  return (
    <Drawer opened onClose={onClose} title={words.sheet} transitionProps={{ duration: 0 }}>
      <SheetContent key={request} request={request} />
    </Drawer>
  );
}

/** Whether a question has failed. A request that was refused has no explanation, which is an answer. */
const isFailure = (error: CallFailed | null): boolean =>
  error !== null && !(error.failure.kind === "refused" && error.failure.code === "not_found");

function SheetContent({ request }: { readonly request: string }) {
  const words = useWords(REQUESTS);
  const view = useAccountView();
  const explained = useAccountGet("explain", { request }, { everyMs: 0 });
  const ledger = useAccountGet("ledger", { request, size: 10 }, { everyMs: 0 });
  const recent = useAccountGet("requests", { size: RECENT_ROWS }, { everyMs: 0 });
  const isAsking = [explained, ledger, recent].some((asked) => asked.isLoading);
  if (isAsking) return <Text size="sm" c="dimmed" aria-busy="true" />;
  const known: KnownRequest = {
    id: request,
    line: ledger.data?.lines.find(({ basis }) => basis !== undefined) ?? null,
    explained: explained.data ?? null,
    row: recent.data?.requests.find((row) => row.id === request || row.request_id === request) ?? null,
  };
  const failed = [explained, ledger, recent].filter(
    ({ data, error }) => data === undefined && isFailure(error),
  );
  const failure = failed[0]?.error?.failure;
  const notice = failure !== undefined && (
    <FailureNotice failure={failure} onRetry={() => failed.forEach(({ refetch }) => void refetch())} />
  );
  if (known.line === null && known.explained === null && known.row === null) {
    return notice || <Empty text={words.unknownRequest} />;
  }
  const { path, query } = questionAbout(view, "explain", { request });
  return (
    <Stack gap="md">
      {notice}
      <RequestFacts known={known} />
      <WhyRefused known={known} />
      {known.explained?.request !== undefined && <EquationOf request={known.explained.request} />}
      <AttemptList attempts={known.explained?.attempts ?? []} ms={known.line?.ms ?? known.row?.ms ?? 0} />
      <RouteNow known={known} />
      {known.explained !== null && (
        <div>
          <CopyCurl method="GET" path={path} query={query} />
        </div>
      )}
    </Stack>
  );
}
