// The keys of the pool as several pages of administration ask for them: all at once, again and again while somebody looks.

import { useEffect, useState } from "react";
import { GAUGE_MS, useGetList } from "../../../api/queries.ts";
import { useWords } from "../../../i18n/language.ts";
import { POOL } from "../../../i18n/pool.ts";

/** The most that one answer holds. */
export const KEYS_MAX = 1_000;
/** Above so many keys the pool is asked less often: an answer is then some hundred kilobytes. */
const KEYS_LIVE = 200;
const SLOW_MS = 10_000;

/** Asks for a page of the pool, with the state of each key at this moment. */
export function usePoolKeys(page = 1) {
  const [isLarge, setLarge] = useState(false);
  const everyMs = isLarge ? SLOW_MS : GAUGE_MS;
  const keys = useGetList("/x-keys", { page, size: KEYS_MAX }, { everyMs });
  const total = keys.data?.total ?? 0;
  useEffect(() => setLarge(total > KEYS_LIVE), [total]);
  return keys;
}

/** Returns what the keys of the pool are called, by their ids. */
export function useKeyNames(): ReadonlyMap<number, string> {
  const { unnamed } = useWords(POOL);
  const { data } = useGetList("/x-keys", { page: 1, size: KEYS_MAX });
  return new Map(data?.rows.keys.map(({ ID, Name }) => [ID, Name || unnamed(ID)]));
}
