// One Level on the page Pool: what leads to it, where its requests go when its keys fail, and its keys.

import { Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { countText } from "../../../api/amount.ts";
import { Countdown } from "../../../components/countdown.tsx";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";
import { KeyCard } from "./key-card.tsx";
import { isUsable, type KeyRow, type LevelOfPool } from "./levels.ts";

/** So many keys of a Level are shown at first: those that need somebody stand before the others. */
const SHOWN = 24;
const PATTERNS_SHOWN = 4;

/** A Level; `keys` are those of its keys that pass the filters. */
export function LevelColumn({
  level,
  keys,
}: {
  readonly level: LevelOfPool;
  readonly keys: readonly KeyRow[];
}) {
  const words = useWords(POOL);
  const [shown, setShown] = useState(SHOWN);
  const name = words.level(level.level);
  const usable = level.keys.filter(isUsable).length;
  return (
    <section className="level-column" aria-label={name} data-level={level.level}>
      <Group justify="space-between" gap="xs" wrap="nowrap">
        <Title order={2}>{name}</Title>
        <Text size="xs" className="figure" {...(usable === 0 ? { c: "var(--console-negative)" } : {})}>
          {words.usable(countText(usable), countText(level.keys.length))}
        </Text>
      </Group>
      <LevelRoute level={level} />
      <Stack gap={6} mt={6}>
        {level.keys.length === 0 && (
          <Text size="sm">
            {words.noKeys}{" "}
            <Anchor component={Link} href={`/admin/pool/new?level=${level.level}`} inherit>
              {words.add}
            </Anchor>
          </Text>
        )}
        {keys.slice(0, shown).map((row) => (
          <KeyCard key={row.ID} row={row} />
        ))}
        {keys.length > shown && (
          <Button variant="default" onClick={() => setShown(shown + 10 * SHOWN)}>
            {words.showAll(countText(keys.length - shown))}
          </Button>
        )}
      </Stack>
    </section>
  );
}

/** Which models lead here, and where requests go from here. */
function LevelRoute({ level }: { readonly level: LevelOfPool }) {
  const words = useWords(POOL);
  const { patterns, backup, isBackup, switchedUntil } = level;
  const more = patterns.length > PATTERNS_SHOWN ? ` +${patterns.length - PATTERNS_SHOWN}` : "";
  return (
    <Text size="xs" c="dimmed" component="div">
      <div className="break" title={patterns.join(", ")}>
        {patterns.length === 0 && !isBackup
          ? words.unused
          : patterns.slice(0, PATTERNS_SHOWN).join(", ") + more}
      </div>
      {switchedUntil === null ? (
        backup === null ? null : (
          words.backup(backup)
        )
      ) : (
        <Text span inherit c="var(--console-negative)">
          {words.switched(backup === null ? words.noBackup : words.level(backup))}{" "}
          <Countdown until={switchedUntil} />
        </Text>
      )}
    </Text>
  );
}
