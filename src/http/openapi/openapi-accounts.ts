// Rows of the caller's subaccounts: the accounts themselves, their bills and ledgers, and why their requests go where they go.

import { Csv, DescendantBill } from "../bills/schemas.ts";
import { AddedAccount, DeletedAccount, UpdatedAccount } from "../configuration/schemas.ts";
import { AccountList, Explain } from "../dashboard/schemas.ts";
import { PAGE_HEADERS } from "../operation.ts";
import { Ledger } from "../schemas.ts";
import { BILL_PARAMS } from "./openapi-dashboard.ts";
import { type EndpointDoc, json, type Rows } from "./openapi-row.ts";

const FILTERS = {
  id: "By any form of identifier.",
  name: "By a part of the name.",
  email: "By e-mail address.",
  level: "By Level, `2` or `L2`; also takes `G<n>`, `R<n>`, `T<n>` and `F<n>`.",
  dna: "By the beginning of the DNA.",
  page: "From 1; 0: all at once.",
  size: "100 where absent, at most 1000; 0: all at once.",
};

const FILTER =
  "An id, a name, an e-mail address, a filter (`L<n>` Level, `G<n>` Gear, `R<n>` Role, `T<n>` Tier, `F<n>` Factor) or a DNA path.";

const list = (summary: string): EndpointDoc => ({
  tag: "Accounts",
  summary,
  description: "In order of ID. With `page=0` or `size=0` all of them, and of the headers only the first.",
  params: FILTERS,
  headers: PAGE_HEADERS,
  answers: json(AccountList),
});

const found = (summary: string): EndpointDoc => ({
  ...list(summary),
  params: { identifier: FILTER, ...FILTERS },
  refuses: ["user_not_found"],
});

/** What a change of an account's figures can meet. */
const CHANGE = [
  "rate_below_parent",
  "resources_not_subset",
  "insufficient_parent_balance",
  "insufficient_balance",
];

export const ACCOUNT_ROWS: Rows = {
  "POST /x-users": {
    tag: "Accounts",
    summary: "Create a subaccount",
    description:
      "Its credit comes out of the caller's balance; of Root's accounts, which are Owners, it is made. The answer holds the new API key, once.",
    asked: { Name: "team-blue", Email: "blue@acme.example", CreditGranted: 10, RPM: 60 },
    answers: json(AddedAccount),
    answered: {
      Action: "add",
      User: {
        ID: 3,
        SecretKey: "sk-0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij",
        Updates: {
          Name: "team-blue",
          Email: "blue@acme.example",
          CreditGranted: 10,
          Balance: 10,
          HardLimit: 0,
          SoftLimit: 0,
          Status: true,
          Level: 0,
          DNA: ".1.2.",
        },
      },
    },
    refuses: [...CHANGE, "duplicate_name", "user_limit_reached", "field_not_settable", "not_manager"],
  },
  "GET /x-users": list("List the caller's direct subaccounts"),
  "GET /x-users/:identifier": found("Find direct subaccounts"),
  "GET /x-dna": list("List all descendants of the caller"),
  "GET /x-dna/:identifier": found("Find descendants"),
  "PUT /x-users/:identifier": {
    tag: "Accounts",
    summary: "Change an account: recharge, refund, limit, disable, configure",
    description:
      "All or nothing. `CreditGranted` recharges, out of the parent's balance; below 0 it refunds. On itself an account may set ModelMapper, Alias, BillingEmail, SoftLimit and QRCode.",
    params: { identifier: "An id, a name or an e-mail address that only one account has." },
    asked: { CreditGranted: 5, Days: 30, DailyLimit: 2, AllowModels: "gpt-*" },
    answers: json(UpdatedAccount),
    answered: {
      Action: "update",
      User: {
        ID: 3,
        Name: "team-blue",
        Updates: { CreditGranted: 5, Days: 30, DailyLimit: 2, AllowModels: "gpt-*" },
      },
    },
    refuses: [
      ...CHANGE,
      "missing_parameter",
      "ambiguous_identifier",
      "has_subaccounts",
      "user_limit_reached",
      "field_not_settable",
      "not_ancestor",
      "not_manager",
      "not_root",
      "not_owner",
      "user_not_found",
    ],
  },
  "DELETE /x-users/:identifier": {
    tag: "Accounts",
    summary: "Delete an account",
    description:
      "Its balance less a fee of 0.2 goes to its parent, valid for 180 days. Its ledger and its log lines stay. Where the parent's balance cannot hold it, 400 `invalid_parameter`, and nothing is deleted.",
    params: {
      identifier: "An id, a name or an e-mail address that only one account has.",
      recursive: "`true`: with all accounts below it.",
    },
    answers: json(DeletedAccount),
    answered: {
      Action: "delete",
      User: { ID: 3, Name: "team-blue", RefundedBalance: 9.67, TransactionFee: 0.2 },
      message: "The account is deleted.",
    },
    refuses: ["has_subaccounts", "ambiguous_identifier", "not_ancestor", "not_manager", "user_not_found"],
  },
  "GET /x-bill": {
    tag: "Accounts",
    summary: "Get the bill of the caller's descendants",
    description: "Today where no date is given. Free.",
    params: {
      user: "An id (of a deleted account too), a name, an e-mail address, a filter such as `L2` or a DNA path; all descendants where absent.",
      u: "The same as `user`.",
      ...BILL_PARAMS,
    },
    answers: { ...json(DescendantBill), "text/csv": Csv },
    refuses: ["missing_parameter", "ambiguous_identifier", "not_manager", "user_not_found"],
  },
  "GET /x-ledger": {
    tag: "Accounts",
    summary: "List a descendant's ledger lines, newest first",
    params: {
      user: "An id (of a deleted account too), a name or an e-mail address.",
      page: "From 1.",
      size: "24 where absent, at most 1000.",
    },
    answers: json(Ledger),
    refuses: ["ambiguous_identifier", "user_not_found"],
  },
  "GET /x-explain": {
    tag: "Accounts",
    summary: "Explain where a descendant's request would go, or where one went",
    params: {
      user: "An id, a name or an e-mail address.",
      model: "The model asked for; either this or `request`.",
      request: "The `x-request-id` of a request that was made.",
      path: "The gateway's path it is asked on; chat completions where absent.",
    },
    answers: json(Explain),
    refuses: ["missing_parameter", "ambiguous_identifier", "user_not_found", "not_found"],
  },
};
