// A bill over accounts as JSON, written while it is sent: a hundred thousand accounts never stand in one text, and the
// event loop turns between a few hundred of them.

import { BILL_SHAPES, type BillAnswer, USER_SHAPES } from "./bill-formats.ts";

/** Written in a millisecond or two. */
const ACCOUNTS = 250;

/** The body of an answer by its `object`, its `usage_users` last. */
export async function* billText(object: keyof typeof BILL_SHAPES, asked: BillAnswer): AsyncGenerator<string> {
  const { accounts, total } = asked.bill;
  yield `${JSON.stringify(BILL_SHAPES[object](asked)).slice(0, -1)},"usage_users":[`;
  for (let given = 0; given < accounts.length; given += ACCOUNTS) {
    const shapes = accounts
      .slice(given, given + ACCOUNTS)
      .map((account) => USER_SHAPES[object](account, total));
    yield `${given === 0 ? "" : ","}${JSON.stringify(shapes).slice(1, -1)}`;
    await new Promise(setImmediate);
  }
  yield "]}";
}
