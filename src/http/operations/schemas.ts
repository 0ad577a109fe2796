// Bodies and answers of `/x-cluster` and `/x-clock`. The figures and their meanings are the tables of cluster.ts.

import { Type } from "@sinclair/typebox";
import { CLOCK_OFFSET_MS_MAX } from "../../base/clock.ts";
import { answerOf, int, namedSchema, object, orNull, string, time, yesSchema } from "../schemas.ts";
import { type Figure, GAUGES, HEALTH } from "./cluster.ts";

const figures = (all: readonly Figure[], description: string) =>
  object(
    Object.fromEntries(all.map(([name, , , meaning]) => [name, Type.Integer({ description: meaning })])),
    description,
  );

const Health = namedSchema(
  "ClusterHealth",
  figures(HEALTH, "zero in health, counted since the start of each node"),
);
const Gauges = namedSchema("ClusterGauges", figures(GAUGES, "as of now"));

/** The answer of `GET /x-cluster`. */
export const ClusterSchema = answerOf(
  object({
    node: Type.String({ description: "the node that answered" }),
    nodes: Type.Array(
      object({
        name: string,
        state: Type.Union([Type.Literal("up"), Type.Literal("leaving"), Type.Literal("dead")]),
        incarnation: Type.String({ description: "changes with each start" }),
        shards: Type.Integer({ description: "how many it owns" }),
        version: orNull(Type.String({ description: "of the program; null: it did not report in time" })),
        health: orNull(Health),
        gauges: orNull(Gauges),
      }),
    ),
    shards: Type.Array(
      object({
        shard: int,
        owner: orNull(Type.String({ description: "a node's name; null: no node owns it at this moment" })),
        epoch: Type.Integer({ description: "one more with each new owner" }),
      }),
    ),
    health: Health,
    gauges: Gauges,
    last_verify: orNull(
      object(
        {
          at: time,
          lines: Type.Integer({ description: "ledger lines that were read" }),
          accounts: int,
          differences: Type.Integer({ description: "0, or what `verify` printed tells" }),
          ms: Type.Integer({ description: "how long it took" }),
        },
        "the last run of `verify`; null: there was none",
      ),
    ),
  }),
);

/** The body of `PUT /x-clock`. */
export const ClockMoveSchema = Type.Object(
  {
    offset_ms: Type.Integer({
      minimum: 0,
      maximum: CLOCK_OFFSET_MS_MAX,
      description: `must be an integer from 0 to ${CLOCK_OFFSET_MS_MAX}: milliseconds ahead of the machine's clock`,
    }),
  },
  { additionalProperties: false },
);

/** The answer of `PUT /x-clock`. */
export const MovedClockSchema = answerOf(
  object({
    success: yesSchema,
    offset_ms: Type.Integer({ description: "how far business time is ahead of the machine's clock" }),
    now: time,
  }),
);
