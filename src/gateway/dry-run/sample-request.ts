// A request that no client has sent: for quotes, and for trying a key.

import type { ParsedRequest } from "../../dialect/dialect.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import type { GatewayEndpoint } from "../endpoints.ts";

/** A JSON body as the surface would read it. */
export const sampleRequest = ({ dialect }: Pick<GatewayEndpoint, "dialect">, body: object): ParsedRequest =>
  dialect.parse(jsonPayload(JSON.stringify(body)));
