// Which pages a key has: by its own scopes, which may be fewer than those of its account.

import { expect, test } from "bun:test";
import { isAllowed, type Need, type Status } from "../../../console/api/role.ts";
import { PAGES } from "../../../console/pages/page-table.tsx";

type Scopes = Status["scopes"];

const needOf = (path: string): Need => PAGES.find((page) => page.path === path)!.need;
const has = (scopes: Scopes, path: string): boolean =>
  isAllowed({ id: 7, manage: false, admin: false, scopes } as Status, needOf(path));

test.each<[Scopes, boolean, boolean]>([
  [["manage"], true, false],
  [["read"], false, false],
  [["read", "manage"], true, true],
])("a key with %p has the page of keys: %p, of the mapping: %p", (scopes, keys, mapping) => {
  expect([has(scopes, "/keys"), has(scopes, "/mapping")]).toEqual([keys, mapping]);
});
