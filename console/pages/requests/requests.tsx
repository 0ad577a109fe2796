// Requests of an account: those that were charged, from its ledger, and the latest ones of any outcome, from memory. One of them
// is shown in a sheet at the side; filters, page, view and sheet are in the address.

import { SegmentedControl, Stack } from "@mantine/core";
import { loadLater } from "../../components/load-later.tsx";
import { Page } from "../../components/page.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import { SHELL } from "../../i18n/shell.ts";
import { ChargedRequests } from "./charged.tsx";
import { RecentRequests } from "./recent.tsx";
import { REQUESTS_VIEW } from "./view.ts";

const Sheet = loadLater(() => import("./sheet.tsx"));

/** The page of an account's requests. */
export default function Requests() {
  const { page } = useWords(SHELL);
  const words = useWords(REQUESTS);
  const [view, change] = useUrlState(REQUESTS_VIEW);
  const open = (request: string) => change({ open: request, page: view.page });
  return (
    <Page title={page.requests}>
      <Stack gap="xs">
        <SegmentedControl
          value={view.view === "recent" ? "recent" : "charged"}
          onChange={(value) => change({ view: value })}
          aria-label={page.requests}
          w="fit-content"
          data={[
            { value: "charged", label: words.charged },
            { value: "recent", label: words.recent },
          ]}
        />
        {view.view === "recent" ? (
          <RecentRequests view={view} change={change} onOpen={open} />
        ) : (
          <ChargedRequests view={view} change={change} onOpen={open} />
        )}
      </Stack>
      {view.open !== "" && (
        <Sheet request={view.open} onClose={() => change({ open: "", page: view.page })} />
      )}
    </Page>
  );
}
