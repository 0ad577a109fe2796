// Every provider key that could take the request, place by place: which would be used, and why the others are not.

import { Anchor, Badge, Group, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import { Empty } from "../../../components/empty.tsx";
import type { ExplainedRoute } from "../../../components/explained-route.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { ROUTE } from "../../../i18n/route.ts";
import { ROUTING } from "../../../i18n/routing.ts";
import { ProviderKeyState } from "../pool/key-state.tsx";
import { useKeyNames } from "../pool/pool-keys.ts";
import { type Candidate, type Place, placesOf, takesRequests } from "./xray-groups.ts";

/** The places of a route with their keys. */
export function XrayCandidates({ route }: { readonly route: ExplainedRoute }) {
  const words = useWords(ROUTING);
  const places = placesOf(route);
  if (places.length === 0) return <Empty text={words.noCandidates} />;
  return (
    <div className="xray-places">
      {places.map((place, nth) => (
        <OnePlace key={`${place.level} ${place.model}`} place={place} nth={nth + 1} />
      ))}
    </div>
  );
}

function OnePlace({ place, nth }: { readonly place: Place; readonly nth: number }) {
  const words = useWords(ROUTING);
  const { model, level, candidates, role } = place;
  return (
    <section data-place={`${model} ${level}`} data-role={role} aria-label={words.tried(nth, model, level)}>
      <Group justify="space-between" gap="xs" wrap="nowrap" align="baseline">
        <Title order={3} className="break">
          {words.tried(nth, model, level)}
        </Title>
        {role === "first" ? (
          <Badge tt="none" color="arbor" miw="max-content">
            {words.goesHere}
          </Badge>
        ) : (
          <Text size="xs" c="dimmed">
            {words.elsewise}
          </Text>
        )}
      </Group>
      <ul>
        {candidates.map((candidate, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: candidates are in their order
          <li key={at} data-takes={takesRequests(candidate)}>
            <CandidateName candidate={candidate} />
            <ProviderKeyState state={candidate.state} until={candidate.until} reason={candidate.reason} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The key by its name, a link for its Owner; how many there are, for who does not see single keys. */
function CandidateName({ candidate }: { readonly candidate: Candidate }) {
  const words = useWords(ROUTE);
  const { unnamed } = useWords(POOL);
  const names = useKeyNames();
  const { key_id: id, count = 0 } = candidate;
  if (id === undefined) return <Text size="sm">{words.countOfKeys(count)}</Text>;
  const name = names.get(id);
  if (name === undefined) return <Text size="sm">{unnamed(id)}</Text>;
  return (
    <Anchor component={Link} href={`/admin/pool/${id}`} size="sm" truncate title={`${name} #${id}`}>
      {name}
    </Anchor>
  );
}
