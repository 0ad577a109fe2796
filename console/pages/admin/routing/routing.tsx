// Routing: the maps that decide which model and Level a request gets, and the X-ray of one route.

import { SegmentedControl, Stack } from "@mantine/core";
import { loadLater } from "../../../components/load-later.tsx";
import { Page } from "../../../components/page.tsx";
import { useUrlState } from "../../../components/url-state.ts";
import { useWords } from "../../../i18n/language.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { SHELL } from "../../../i18n/shell.ts";
import { MapList } from "./map-list.tsx";
import { XRAY_QUESTION } from "./xray-question.ts";

const Xray = loadLater(() => import("./xray.tsx"));

const VIEW = { view: "maps", ...XRAY_QUESTION };

/** The page. */
export default function Routing() {
  const { page } = useWords(SHELL);
  const { tabs } = useWords(ROUTING);
  const [view, change] = useUrlState(VIEW);
  const isXray = view.view === "xray";
  return (
    <Page title={page.routing}>
      <Stack gap="sm">
        <SegmentedControl
          value={isXray ? "xray" : "maps"}
          onChange={(to) => change({ view: to })}
          aria-label={page.routing}
          w="fit-content"
          data={[
            { value: "maps", label: tabs.maps },
            { value: "xray", label: tabs.xray },
          ]}
        />
        {isXray ? <Xray question={view} change={change} /> : <MapList />}
      </Stack>
    </Page>
  );
}
