// How a request like this one would be routed at this moment, asked when somebody wants to know.

import { Button, Stack } from "@mantine/core";
import { useState } from "react";
import { useAccountGet } from "../../api/account-view.ts";
import { AskedState } from "../../components/asked-state.tsx";
import { RouteDecision, RouteTables } from "../../components/explained-route.tsx";
import { Section } from "../../components/section.tsx";
import { useWords } from "../../i18n/language.ts";
import { REQUESTS } from "../../i18n/requests.ts";
import { askedOf, type KnownRequest } from "./known-request.ts";

/** The route of a request as it would be now; nothing where its model is not known. */
export function RouteNow({ known }: { readonly known: KnownRequest }) {
  const words = useWords(REQUESTS);
  const [isWanted, setWanted] = useState(false);
  const { model, ...where } = askedOf(known);
  const asked = useAccountGet(
    "explain",
    { model: model ?? "", ...where },
    { enabled: isWanted && model !== null, everyMs: 0 },
  );
  if (model === null) return null;
  if (!isWanted) {
    return (
      <Button variant="default" w="fit-content" onClick={() => setWanted(true)}>
        {words.routeNow}
      </Button>
    );
  }
  return (
    <Section title={words.steps}>
      <AskedState asked={asked}>
        {(route) => (
          <Stack gap="sm">
            <RouteDecision route={route} />
            <RouteTables route={route} />
          </Stack>
        )}
      </AskedState>
    </Section>
  );
}
