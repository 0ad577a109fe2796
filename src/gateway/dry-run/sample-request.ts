// A request that no client has sent: for quotes, and for trying a key.

import type { Parsed } from "../../dialect/dialect.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import type { Surface } from "../endpoints.ts";

/** A JSON body as the surface would read it. */
export const imagined = ({ dialect }: Pick<Surface, "dialect">, body: object): Parsed =>
  dialect.parse(jsonPayload(JSON.stringify(body)));
