// What the address of the page Usage holds: the period, the days of one of its own, what is grouped by.

/** The parameters of the address, as they are without it. `tag`: the name of the tag that is grouped by. */
export const USAGE_VIEW = { period: "30", start: "", end: "", group: "model", tag: "" };

/** What the address holds. */
export type UsageView = typeof USAGE_VIEW;
