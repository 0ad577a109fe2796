// Bodies and answers of API key rotation.

import { Type } from "@sinclair/typebox";
import { answerOf, int, object, string, textSchema, time, yesSchema } from "../schemas.ts";
import { characters } from "../text-schema.ts";

const confirm = textSchema(64, 1);

export const SelfRotationSchema = Type.Object({ confirm }, { additionalProperties: false });

export const RootRotationSchema = Type.Object(
  {
    confirm,
    name: Type.Optional(textSchema(254, 1)),
    key: Type.Optional(
      characters({
        minLength: 32,
        maxLength: 128,
        pattern: "^[\\x21-\\x7e]{32,128}$",
        description: "must be 32 to 128 visible ASCII characters",
      }),
    ),
  },
  { additionalProperties: false },
);

export const FreshKeySchema = answerOf(
  object({ success: yesSchema, key: Type.String({ pattern: "^sk-", description: "assigned to nobody" }) }),
);

/** The answer of a rotation. */
export const rotatedSchema = <A extends "rotate_self" | "rotate_root">(action: A) =>
  answerOf(
    object({
      success: yesSchema,
      message: string,
      rotate: object({
        action: Type.Literal(action),
        id: int,
        name: string,
        key: Type.String({ description: "the new API key; it is shown this once" }),
        timestamp: time,
      }),
    }),
  );
