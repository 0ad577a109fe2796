// Queries and the answer of the lists of last requests.

import { Type } from "@sinclair/typebox";
import {
  answerOf,
  digits,
  int,
  namedSchema,
  object,
  orNull,
  paged,
  parameter,
  string,
  textSchema,
  time,
  usd,
} from "../schemas.ts";

const ListedRequest = namedSchema(
  "ListedRequest",
  object({
    id: Type.String({ description: "the service's own id, as in the ledger" }),
    at: Type.String({ format: "date-time", description: "when it ended, ISO 8601, UTC" }),
    request_id: orNull(Type.String({ description: "what the client saw as x-request-id" })),
    path: orNull(string),
    model: orNull(string),
    status: orNull(
      Type.Integer({ description: "of the answer, or of its error; null: the client got none" }),
    ),
    code: orNull(Type.String({ description: "of the error, or what broke a charged answer off" })),
    ms: int,
    cost: usd,
    attempts: Type.Integer({ description: "calls of providers" }),
    api_key: orNull(Type.Integer({ description: "0: the main key; null: a key that is not there any more" })),
  }),
);

/** The answer of `GET /dashboard/requests`. */
export const RequestListSchema = answerOf(
  namedSchema(
    "RequestList",
    object({
      requests: Type.Array(ListedRequest),
      ...paged,
      volatile: Type.Literal(true, { description: "it is kept in memory alone" }),
      since: Type.String({ ...time, description: "of requests that ended before, some or all are missing" }),
      skipped: Type.Integer({
        description: "requests without a charge that were too many in a second to be shown",
      }),
    }),
  ),
);

const requestPage = {
  page: Type.Optional(parameter(digits, "From 1.")),
  size: Type.Optional(parameter(digits, "100 where absent, at most 1000.")),
};

/** The query of `GET /dashboard/requests`. */
export const RequestListQuerySchema = Type.Object(requestPage, { additionalProperties: false });

/** The query of `GET /x-requests`. */
export const DescendantRequestListQuerySchema = Type.Object(
  { user: parameter(textSchema(254, 1), "An id, a name or an e-mail address."), ...requestPage },
  { additionalProperties: false },
);
