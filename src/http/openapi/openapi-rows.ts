// All rows of the document. An endpoint stands in one of them.

import type { Rows } from "./openapi-row.ts";

export const ROWS: Rows = {};
