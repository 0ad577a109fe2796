// Bodies and answers of news.

import { Type } from "@sinclair/typebox";
import { answerOf, int, maybe, namedSchema, object, parameter, string, time, yesSchema } from "../schemas.ts";
import { words } from "../text-rules.ts";

/** The body of `POST /x-news` and `POST /x-news/{target}`. */
export const NewNewsSchema = Type.Object(
  {
    title: words(100, "one line"),
    content: words(1_000, "lines"),
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 36_500, description: "must be an integer from 1 to 36500" }),
    ),
  },
  { additionalProperties: false },
);

/** The body of `DELETE /x-news`; without it all of the caller's system news are deleted. */
export const DeleteNewsSchema = Type.Object(
  {
    id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: Number.MAX_SAFE_INTEGER,
        description: "must be the number of a news item",
      }),
    ),
  },
  { additionalProperties: false },
);

export const TargetParams = Type.Object({
  target: parameter(Type.String(), "An account's id, name or e-mail address, or a DNA path such as `.1.2.`."),
});

const NewsItemSchema = namedSchema(
  "NewsItem",
  object({ id: int, title: string, content: string, created_at: time, expires_at: time }),
);

export const AddedNewsSchema = answerOf(
  object({ success: yesSchema, Action: Type.Literal("add"), news: NewsItemSchema }),
);

export const DeletedNewsSchema = answerOf(
  object({
    success: yesSchema,
    Action: Type.Literal("delete"),
    news: maybe(NewsItemSchema),
    deleted: maybe(int),
  }),
);

/** The answer of `GET /dashboard/news`. */
export const NewsListSchema = answerOf(
  object({
    success: yesSchema,
    system_news: Type.Array(NewsItemSchema),
    user_news: Type.Array(NewsItemSchema),
    dna_news: Type.Array(NewsItemSchema),
  }),
);
