// Shapes of what changes accounts, keys, configuration, news and credentials, and of what an Owner reads of them.

import { Type } from "@sinclair/typebox";
import {
  flagSchema,
  int,
  ModelLimitsSchema,
  map,
  maybe,
  namedSchema,
  object,
  oneOf,
  string,
  time,
  usd,
  yesSchema,
} from "../schemas.ts";

/** Maps as objects, limits as a map, prices and texts as they are kept. */
export const ConfigurationSchema = namedSchema(
  "Configuration",
  object({
    success: yesSchema,
    oid: Type.Integer({ description: "the Owner" }),
    configs: Type.Record(Type.String(), Type.Unknown()),
  }),
);

const Change = object({ before: Type.Unknown(), after: Type.Unknown() });

export const ConfigurationHistory = object({
  success: yesSchema,
  versions: Type.Array(
    object({
      version: int,
      at: time,
      by: Type.Integer({ description: "the account that made it" }),
      changes: Type.Record(Type.String(), Change, { description: "by key of the configuration" }),
    }),
  ),
});

export const PricePreviewSchema = object({
  success: yesSchema,
  days: Type.Literal(30),
  models: Type.Array(
    object({
      model: string,
      requests: int,
      cost_now: usd,
      cost_preview: Type.Union([usd, Type.Null()], { description: "null: the model would have no price" }),
    }),
    { description: "the dearest now first, then by name" },
  ),
  total: object({ cost_now: usd, cost_preview: usd }),
});

const outOfUse = { ID: int, Name: string, Level: int, Provider: string, Status: flagSchema, SleepTimes: int };

export const Conf = namedSchema(
  "Conf",
  object({
    Resources: map(Type.Object({})),
    LevelMapper: map(int),
    ModelMapper: map(string),
    ModelFailover: map(Type.Array(string)),
    ModelLimits: ModelLimitsSchema,
    SwitchOver: map(int),
    SleepingKeys: Type.Array(object({ ...outOfUse, SleepSeconds: int, WakesAt: time, Reason: string })),
    DisabledKeys: Type.Array(object(outOfUse)),
    UserMinBalance: usd,
    UserApiBalance: usd,
  }),
);

const done = maybe(oneOf("true", "false"));

/** What was applied: doings as text, maps as they now are. */
export const AppliedConf = object({
  success: yesSchema,
  LoadKeys: done,
  LogEnable: done,
  SaveCache: done,
  DelKeys: done,
  Resources: maybe(map(Type.Object({}))),
  LevelMapper: maybe(map(int)),
  ModelMapper: maybe(map(string)),
  ModelFailover: maybe(map(Type.Array(string))),
  ModelLimits: maybe(ModelLimitsSchema),
  SwitchOver: maybe(map(int)),
});
