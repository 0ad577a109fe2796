// Which dialect is spoken on which path. A suffix, since some hosts put a deployment or a version of their own before it.

import { chat } from "./chat.ts";
import { completions } from "./completions.ts";
import type { Dialect } from "./dialect.ts";
import { embeddings } from "./embeddings.ts";
import { imageEdits, imageGenerations, imageVariations } from "./images.ts";
import { countTokens, messages } from "./messages.ts";
import { moderations } from "./moderations.ts";
import { rerank } from "./rerank.ts";
import { conversations, responses } from "./responses.ts";
import { speech } from "./speech.ts";
import { transcriptions, translations } from "./transcriptions.ts";

/** The first that fits: `/chat/completions` ends in `/completions` too. */
const DIALECTS: readonly (readonly [suffix: string, dialect: Dialect])[] = [
  ["/chat/completions", chat],
  ["/messages", messages],
  ["/messages/count_tokens", countTokens],
  ["/responses", responses],
  ["/conversations", conversations],
  ["/completions", completions],
  ["/embeddings", embeddings],
  ["/images/generations", imageGenerations],
  ["/images/edits", imageEdits],
  ["/images/variations", imageVariations],
  ["/audio/speech", speech],
  ["/audio/transcriptions", transcriptions],
  ["/audio/translations", translations],
  ["/rerank", rerank],
  ["/moderations", moderations],
];

export const dialectOf = (path: string): Dialect | undefined =>
  DIALECTS.find(([suffix]) => path.endsWith(suffix))?.[1];

/** The dialects that can be said to anybody who asks in chat's words, for load. */
export const PLAIN_DIALECTS: readonly Dialect[] = [chat, messages, countTokens];

const MODELS = ["gpt-4o", "gpt-4o-mini", "gpt-4.1"];

export const modelList = (): object => ({
  object: "list",
  data: MODELS.map((id) => ({ id, object: "model", created: 1_715_367_049, owned_by: "standin" })),
});
