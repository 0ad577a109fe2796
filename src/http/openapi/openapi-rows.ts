// All rows of the document, family by family. An endpoint stands in one of them.

import { PATH_ROWS } from "../gateway/media-endpoint-table.ts";
import { ACCOUNT_ROWS } from "./openapi-accounts.ts";
import { ADMINISTRATION_ROWS } from "./openapi-administration.ts";
import { DASHBOARD_ROWS } from "./openapi-dashboard.ts";
import { GATEWAY_ROWS } from "./openapi-gateway.ts";
import type { Rows } from "./openapi-row.ts";

export const ROWS: Rows = {
  ...GATEWAY_ROWS,
  ...PATH_ROWS,
  ...ACCOUNT_ROWS,
  ...DASHBOARD_ROWS,
  ...ADMINISTRATION_ROWS,
};
