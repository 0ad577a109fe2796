// Errors that come with the status 200, whole or in the middle of a stream: how a body says that it is none.

import { isObject, type Json } from "./json.ts";

/** It names an error, or a status of its own that is not the good one. */
export const statesError = (body: Json): boolean =>
  Boolean(body.error) || (isObject(body.base_resp) && body.base_resp.status_code !== 0);

/** A code and words, which are an error only where an answer should be. */
export const isCodeAndWords = (body: Json): boolean =>
  body.code !== undefined && (body.msg ?? body.message) !== undefined;
