// What every refusal of the stand-in leads to, by hand: what the client receives, what the key becomes, whether another key
// is tried. Nothing of this is worked out by the code that it is held against.

import {
  FAILED,
  FAILURE,
  LIMITED,
  LIMITED_ONCE,
  NO_KEY,
  NO_MODEL,
  PASSED_OVER,
  passed,
  refused,
  type Sheet,
  SLEEPS,
  TIMEOUT,
  WELL,
} from "./rows.ts";

const failed = refused(FAILED, FAILURE);
const wrongKey = refused(FAILED, SLEEPS);
const quotaGone = refused(NO_KEY, SLEEPS);
const overloaded = refused(NO_KEY, FAILURE);
const limited = refused(LIMITED, LIMITED_ONCE, { retryAfterS: 1 });
const noModel = refused(NO_MODEL, PASSED_OVER);
const late = refused(TIMEOUT, FAILURE);
/** Limited for a stated time: a rest so long, and no failure. */
const rests = (wait: string, retryAfterS: number, final = false) =>
  refused(LIMITED, `rests ${wait}`, { retryAfterS, final });
/** Short enough to be waited for where there is no other key. */
const waitedFor = (wait: string, retryAfterS: number) =>
  refused(LIMITED, `rests ${wait}`, { retryAfterS, attempts: 2 });
/** The messages style gives errors a type and no code. */
const inWords = (status: number, code: string): Sheet => ({
  chat: passed(status, code),
  else: passed(status),
});
/** One 409 may be another request's doing, so a second key is asked before the client gets an error. */
const conflict = (code: string) => refused([409, code], WELL, { words: true });

export const REFUSAL_SHEETS: Readonly<Record<string, Sheet>> = {
  "200.error": failed,
  "200.invalid": inWords(400, "tool_use_failed"),
  "200.string": failed,
  "200.code": quotaGone,
  "200.base_resp": quotaGone,

  "302": failed,

  "400": inWords(400, "invalid_type"),
  // A chat client finds the code where the messages style has words alone: applications shorten by it.
  "400.context": {
    ...inWords(400, "context_length_exceeded"),
    "to messages": passed(400, "context_length_exceeded"),
  },
  "400.filter": inWords(400, "content_policy_violation"),
  // Without encrypted reasoning in the request there is nothing to leave out; see table-of-foreign-reasoning.ts.
  "400.encrypted": inWords(400, "invalid_encrypted_content"),
  "400.stream_options": inWords(400, "unknown_parameter"),
  "400.billing": quotaGone,
  "400.claude_credit": quotaGone,
  "400.google_key": wrongKey,

  "401": wrongKey,
  "401.azure": wrongKey,
  "401.claude": wrongKey,
  "402": quotaGone,
  "402.number": quotaGone,
  "403": failed,
  "403.region": failed,
  "403.account": { chat: wrongKey, else: failed },

  "404": noModel,
  "404.deployment": noModel,
  "404.claude": noModel,

  "408": late,
  "409": {
    chat: conflict("conflict"),
    "to messages": conflict("conflict"),
    else: conflict("upstream_rejected"),
  },
  "413": { ...inWords(413, "request_too_large"), "to messages": passed(413, "request_too_large") },
  "422": passed(422),

  "429": limited,
  "429.tokens": limited,
  "429.azure": limited,
  "429 retry=soon": limited,
  "429 retry=7": rests("7 s", 7),
  "429 retry=date": rests("~20 s", 20),
  "429 retry=90": rests("90 s", 90, true),
  "429 retry=1": waitedFor("1 s", 1),
  "429 retry_ms=1500": waitedFor("2 s", 2),
  // The moment is over: that states no time.
  "429 retry=past": limited,
  "429.too_big": refused(LIMITED, WELL, { final: true }),
  "429.quota": quotaGone,
  "429.moonshot": quotaGone,
  "429.google": quotaGone,
  "429.overloaded": overloaded,

  "500": failed,
  "502": failed,
  "503": overloaded,
  "503 retry=5": overloaded,
  "504": { chat: failed, else: late },
  "520": failed,
  "529": overloaded,
};
