// The shape of what Root sees of the cluster. Figures and their meaning are the endpoint's own tables.

import { Type } from "@sinclair/typebox";
import { int, namedSchema, object, oneOf, orNull, string, time } from "../schemas.ts";
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

export const Cluster = object({
  node: Type.String({ description: "the node that was asked" }),
  nodes: Type.Array(
    object({
      name: string,
      state: oneOf("up", "leaving", "dead"),
      incarnation: Type.String({ description: "another one after each start" }),
      shards: Type.Integer({ description: "how many it owns" }),
      version: orNull(Type.String({ description: "of the program; null: it did not answer in time" })),
      health: orNull(Health),
      gauges: orNull(Gauges),
    }),
  ),
  shards: Type.Array(
    object({
      shard: int,
      owner: orNull(Type.String({ description: "a node's name; null: nobody's at this moment" })),
      epoch: Type.Integer({ description: "one more with each new owner" }),
    }),
  ),
  health: Health,
  gauges: Gauges,
});

export const MovedClock = object({
  success: Type.Literal(true),
  offset_ms: Type.Integer({ description: "how far business time is ahead of the machine's clock" }),
  now: time,
});
