// Recognizes errors that a provider sends with status 200, as a whole body or inside a stream.

import { isObject, type Json } from "./json.ts";

/** Whether a body has an `error`, or a `base_resp` with a status other than 0. */
export const statesError = (body: Json): boolean =>
  Boolean(body.error) || (isObject(body.base_resp) && body.base_resp.status_code !== 0);

/** Whether a body has a code and a message, which is an error only if the answer's own fields are missing. */
export const isCodeAndWords = (body: Json): boolean =>
  body.code !== undefined && (body.msg ?? body.message) !== undefined;
