// The tags of a request: read from its header `x-arbor-tags`, joined with those of its API key. They reach the
// ledger with the charge and never a provider: the header is not among those that are forwarded.

import type { Admitted } from "../../../actors/account/admit.ts";
import { isUntagged, mergeTags, NO_TAGS, parseTags, type Tags } from "../../../actors/tags.ts";
import { RefusedError } from "../../base/errors.ts";
import type { HeaderReader } from "../../base/header-reader.ts";

const HEADER = "x-arbor-tags";

/** Returns the tags that the client sent. Throws `RefusedError` (`invalid_parameter`) for a header that states none. */
export function readTagsHeader(headers: HeaderReader): Tags {
  const text = headers.get(HEADER);
  if (text === null) return NO_TAGS;
  const tags = parseTags(text);
  if (typeof tags !== "string") return tags;
  throw new RefusedError({ code: "invalid_parameter", message: `The header ${HEADER}: ${tags}` });
}

/** Returns the tags with which a request is charged; null when it has none. */
export function tagsOfCharge({ apiKey }: Pick<Admitted, "apiKey">, requested: Tags): Tags | null {
  const tags = mergeTags(apiKey?.tags, requested);
  return isUntagged(tags) ? null : tags;
}
