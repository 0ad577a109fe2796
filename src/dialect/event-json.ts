// Reads the JSON of one event of a stream. It is parsed on the event loop, so its bound is lower than that of a body.

import { parseJson } from "./json.ts";
import { hasMoreContainers } from "./payload/json-containers.ts";

/** Arrays and objects of one event. An answer with the alternatives of 8,000 tokens has fewer. */
const EVENT_CONTAINERS_MAX = 400_000;

/** Parses the JSON of one event. Does what `parseJson` does, and returns undefined for too many arrays and objects. */
export const parseEventJson = (data: string): unknown =>
  hasMoreContainers(data, EVENT_CONTAINERS_MAX) ? undefined : parseJson(data);
