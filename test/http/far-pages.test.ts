// A page beyond the end of a list is empty, however far it is, on every endpoint that has pages.

import { expect, test } from "bun:test";
import { prepared, useBench } from "../e2e/use-bench.ts";

const bench = useBench();
const owner = prepared(() => bench.owner());

/** By path, the field of its answer that is the page; "": all of it. */
const PAGED = [
  ["/x-users?", ""],
  ["/x-users/$owner?", ""],
  ["/x-keys?", "keys"],
  ["/x-events?", "events"],
  ["/x-config/history?", "versions"],
  ["/dashboard/ledger?", "lines"],
  ["/x-ledger?user=$child&", "lines"],
  ["/dashboard/logs?", "logs"],
  ["/dashboard/requests?", "requests"],
  ["/x-requests?user=$child&", "requests"],
  ["/x-attention?", "accounts"],
] as const;

test.each(PAGED)("%s", async (path, field) => {
  const child = await bench.subaccount(owner);
  const where = path.replace("$owner", String(child.id)).replace("$child", String(child.id));
  for (const page of ["1000000000", "999999999999999", "9".repeat(30)]) {
    const { status, body } = await bench.call(owner.key, "GET", `${where}page=${page}&size=1000`);
    expect([page, status]).toEqual([page, 200]);
    expect(field === "" ? body : body[field]).toEqual([]);
  }
});
