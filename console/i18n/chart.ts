// Words of charts of costs.

import { dictionary } from "./language.ts";

/** Words of the chart. */
export const CHART = dictionary({
  en: { others: "all others", noData: "no data" },
  zh: { others: "其他", noData: "无数据" },
});
