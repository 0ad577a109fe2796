// Credits and ledger of an account: what it has and when that expires, and every line of its ledger with the balance after it. A
// view that is filtered, such as one that an amount led to, begins with the lines.

import { Button, Stack } from "@mantine/core";
import { questionAbout, useAccountView } from "../../api/account-view.ts";
import { isFiltered, ledgerFilterOf } from "../../api/ledger-filter.ts";
import { Download } from "../../components/download.tsx";
import { loadLater } from "../../components/load-later.tsx";
import { Page } from "../../components/page.tsx";
import { useUrlState } from "../../components/url-state.ts";
import { useStatus } from "../../frame/status.ts";
import { useWords } from "../../i18n/language.ts";
import { SHELL } from "../../i18n/shell.ts";
import { Credits } from "./credits.tsx";
import { LedgerLines } from "./lines.tsx";
import { LEDGER_VIEW } from "./view.ts";

const RequestSheet = loadLater(() => import("../requests/sheet.tsx"));

/** The page of an account's credits and ledger. */
export default function Ledger() {
  const shell = useWords(SHELL);
  const [view, change] = useUrlState(LEDGER_VIEW);
  const whose = useAccountView();
  const { id } = useStatus();
  const filter = ledgerFilterOf(view);
  const { path, query } = questionAbout(whose, "ledger", { ...filter, format: "csv" });
  return (
    <Page
      title={shell.page.ledger}
      actions={
        <>
          <Download path={path} query={query} name={`ledger-${whose.user ?? id}.csv`} />
          <Button variant="default" onClick={() => window.print()}>
            {shell.print}
          </Button>
        </>
      }
    >
      <Stack gap="sm">
        {!isFiltered(filter) && <Credits />}
        <LedgerLines
          view={view}
          // An amount is proved by the lines that it led to, and by no others.
          onFilter={(changes) => change({ proves: "", ...changes })}
          onPage={(page) => change({ page: String(page) })}
          onOpen={(request) => change({ open: request, page: view.page })}
        />
      </Stack>
      {view.open !== "" && (
        <RequestSheet request={view.open} onClose={() => change({ open: "", page: view.page })} />
      )}
    </Page>
  );
}
