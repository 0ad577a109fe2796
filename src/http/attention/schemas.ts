// The query and the answer of `/x-attention`.

import { Type } from "@sinclair/typebox";
import {
  answerOf,
  digits,
  int,
  namedSchema,
  object,
  oneOf,
  orNull,
  paged,
  parameter,
  string,
} from "../schemas.ts";

const AttentionRow = namedSchema(
  "AttentionRow",
  object({
    id: int,
    name: string,
    dna: string,
    reason: oneOf("suspended", "disabled", "low_balance", "near_limit", "expiring", "idle"),
    figure: orNull(
      Type.Number({
        description:
          "low_balance: the balance in US dollars. near_limit: percent of HardLimit or DailyLimit, the higher one. " +
          "expiring: US dollars that expire within 7 days. idle: days since the last charge, or since the creation. " +
          "suspended, disabled: null.",
      }),
    ),
  }),
);

/** The answer of `GET /x-attention`. */
export const AttentionSchema = answerOf(
  namedSchema("Attention", object({ accounts: Type.Array(AttentionRow), ...paged })),
);

/** The query of `GET /x-attention`. */
export const AttentionQuerySchema = Type.Object(
  {
    page: Type.Optional(parameter(digits, "From 1.")),
    size: Type.Optional(parameter(digits, "100 where absent, at most 1000.")),
  },
  { additionalProperties: false },
);
