// Builds a request that no client has sent, for quotes and for testing a key.

import type { ParsedRequest } from "../../dialect/dialect.ts";
import { jsonPayload } from "../../dialect/payload/payload-json.ts";
import type { GatewayEndpoint } from "../endpoints.ts";

/** Returns a JSON body as the endpoint would parse it. */
export const sampleRequest = ({ dialect }: Pick<GatewayEndpoint, "dialect">, body: object): ParsedRequest =>
  dialect.parse(jsonPayload(JSON.stringify(body)));
