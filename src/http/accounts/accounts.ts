// `/x-users` and `/x-dna`: the caller's subaccounts. The endpoints are declared here; what each does is in a file of its own.

import { Elysia } from "elysia";
import { rawAnswer } from "../json-stream.ts";
import { management } from "../management.ts";
import { operation, PAGE_HEADERS } from "../operation.ts";
import { NoQuerySchema } from "../schemas.ts";
import type { AccountShape } from "./account-shape.ts";
import { createUser } from "./create-user.ts";
import { deleteUser } from "./delete-user.ts";
import { findUsers, type UserList } from "./find-users.ts";
import {
  AccountListSchema,
  AddedAccountSchema,
  DeletedAccountSchema,
  DeleteUserQuerySchema,
  DescendantsQuerySchema,
  NewUserSchema,
  UpdatedAccountSchema,
  UserChangeSchema,
  UserParams,
  UsersParams,
  UsersQuerySchema,
} from "./schemas.ts";
import { updateUser } from "./update-user.ts";
import type { UsersParts } from "./users.ts";

/** Subaccounts of the caller. Source: specification, "Accounts"; contract section 3. */
export const accounts = (parts: UsersParts) =>
  new Elysia({ normalize: false })
    .use(management(parts))
    .post("/x-users", ({ body, call }) => createUser(parts, call, body), {
      access: { role: "any", scope: "manage", audit: "add_user" },
      query: NoQuerySchema,
      body: NewUserSchema,
      response: AddedAccountSchema,
      detail: CREATE,
    })
    .put(
      "/x-users/:identifier",
      ({ params, body, call }) => updateUser(parts, call, params.identifier, body),
      {
        access: { role: "any", scope: "manage", audit: "update_user" },
        params: UserParams,
        query: NoQuerySchema,
        body: UserChangeSchema,
        response: UpdatedAccountSchema,
        detail: UPDATE,
      },
    )
    .delete(
      "/x-users/:identifier",
      ({ params, query, call }) => deleteUser(parts, call, params.identifier, query.recursive === "true"),
      {
        access: { role: "any", scope: "manage", audit: "delete_user" },
        params: UserParams,
        query: DeleteUserQuerySchema,
        response: DeletedAccountSchema,
        detail: DELETE,
      },
    )
    .get(
      "/x-users",
      async ({ call, query, set }) =>
        listed(set, await findUsers(parts, call.caller, { scope: "children", identifier: null, query })),
      list("listSubaccounts", "List the caller's, or another account's, direct subaccounts", CHILDREN),
    )
    .get(
      "/x-users/:identifier",
      async ({ call, params: { identifier }, query, set }) =>
        listed(set, await findUsers(parts, call.caller, { scope: "children", identifier, query })),
      found("findSubaccounts", "Find direct subaccounts", CHILDREN),
    )
    .get(
      "/x-dna",
      async ({ call, query, set }) =>
        listed(set, await findUsers(parts, call.caller, { scope: "descendants", identifier: null, query })),
      list("listDescendants", "List all descendants of the caller", DESCENDANTS),
    )
    .get(
      "/x-dna/:identifier",
      async ({ call, params: { identifier }, query, set }) =>
        listed(set, await findUsers(parts, call.caller, { scope: "descendants", identifier, query })),
      found("findDescendants", "Find descendants", DESCENDANTS),
    );

/** Answers a list with its page headers; a long one is sent while it is read. */
function listed(set: { headers: object }, { list, headers }: UserList): AccountShape[] {
  Object.assign(set.headers, headers);
  return Array.isArray(list) ? list : rawAnswer<AccountShape[]>(list);
}

const READS = { role: "any", scope: "read", audit: null, hasEtag: true } as const;

const ALL = "With `page=0` or `size=0` all of them, and of the headers only the first.";
const LIST = { tag: "Accounts", answerHeaders: PAGE_HEADERS } as const;

const DESCENDANTS = {
  query: DescendantsQuerySchema,
  description: `In order of ID. ${ALL}`,
  errors: [],
} as const;
const CHILDREN = {
  query: UsersQuerySchema,
  description:
    `In order of ID, or as \`sort\` and \`order\` say; equal ones are in order of ID, too. ${ALL} ` +
    "`parent` lists the subaccounts of another account in reach; with `with` rows also show `children` and `month_cost`. " +
    "Balances, `children` and `month_cost` trail requests by at most 2 s. The order by balance counts credit that has " +
    "expired within the last minute.",
  errors: ["user_not_found", "ambiguous_identifier"],
} as const;
type Listing = typeof DESCENDANTS | typeof CHILDREN;

const list = <L extends Listing>(operationId: string, summary: string, { query, ...listing }: L) => ({
  access: READS,
  query: query as L["query"],
  response: AccountListSchema,
  detail: operation({ ...LIST, ...listing, operationId, summary }),
});

const found = <L extends Listing>(operationId: string, summary: string, { query, ...listing }: L) => ({
  access: READS,
  params: UsersParams,
  query: query as L["query"],
  response: AccountListSchema,
  detail: operation({
    ...{ ...LIST, ...listing, operationId, summary },
    errors: [...new Set([...listing.errors, "user_not_found"] as const)],
  }),
});

/** What a change of an account's figures can meet. */
const CHANGE_ERRORS = [
  "rate_below_parent",
  "resources_not_subset",
  "insufficient_parent_balance",
  "insufficient_balance",
] as const;

const CREATE = operation({
  tag: "Accounts",
  operationId: "createSubaccount",
  summary: "Create a subaccount",
  description:
    "Its credit comes out of the caller's balance; of Root's accounts, which are Owners, it is made. The answer holds the new API key, once.",
  requestExample: { Name: "team-blue", Email: "blue@acme.example", CreditGranted: 10, RPM: 60 },
  answerExample: {
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
  errors: [...CHANGE_ERRORS, "duplicate_name", "user_limit_reached", "field_not_settable", "not_manager"],
});

const UPDATE = operation({
  tag: "Accounts",
  operationId: "updateAccount",
  summary: "Change an account: recharge, refund, limit, disable, configure",
  description:
    "All or nothing. `CreditGranted` recharges, out of the parent's balance; below 0 it refunds. On itself an account may set ModelMapper, Alias, BillingEmail, SoftLimit and QRCode.",
  requestExample: { CreditGranted: 5, Days: 30, DailyLimit: 2, AllowModels: "gpt-*" },
  answerExample: {
    Action: "update",
    User: {
      ID: 3,
      Name: "team-blue",
      Updates: { CreditGranted: 5, Days: 30, DailyLimit: 2, AllowModels: "gpt-*" },
    },
  },
  errors: [
    ...CHANGE_ERRORS,
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
});

const DELETE = operation({
  tag: "Accounts",
  operationId: "deleteAccount",
  summary: "Delete an account",
  description:
    "Its balance less a fee of 0.2 goes to its parent, valid for 180 days. Its ledger and its log lines stay. Where the parent's balance cannot hold it, 400 `invalid_parameter`, and nothing is deleted.",
  answerExample: {
    Action: "delete",
    User: { ID: 3, Name: "team-blue", RefundedBalance: 9.67, TransactionFee: 0.2 },
    message: "The account is deleted.",
  },
  errors: ["has_subaccounts", "ambiguous_identifier", "not_ancestor", "not_manager", "user_not_found"],
});
