// All rows of the document, family by family. An endpoint stands in one of them.

import { PATH_ROWS } from "../gateway/media-endpoint-table.ts";
import { GATEWAY_ROWS } from "./openapi-gateway.ts";
import type { Rows } from "./openapi-row.ts";

export const ROWS: Rows = { ...GATEWAY_ROWS, ...PATH_ROWS };
