// The page and the chart that the comparison with other gateways writes, made from figures that are given here.

import { describe, expect, test } from "bun:test";
import type { LoadFigures, PeerFigures } from "../../bench/peers/measure.ts";
import { type PeerResult, speedChart, speedPage } from "../../bench/peers/page.ts";

const load = (cpuUs: number): LoadFigures => ({ cpuUs, perS: 1e6 / cpuUs, ratios: [1, 2, 3] });
const figures = (cpuUs: number): PeerFigures => ({
  whole: load(cpuUs),
  stream: load(cpuUs * 10),
  addedWholeMs: cpuUs / 1_000,
  addedFirstEventMs: cpuUs / 500,
  rssBytes: 50 * 1024 * 1024,
});
const measured = (name: string, cpuUs: number): PeerResult => ({
  name,
  version: "1.2.3",
  does: "Nothing.",
  isOurs: name === "ours",
  outcome: { ok: true, figures: figures(cpuUs) },
});
const missing: PeerResult = {
  name: "<missing>",
  version: null,
  does: "Nothing.",
  isOurs: false,
  outcome: { ok: false, reason: "not installed" },
};
const RESULTS = [measured("raw", 20), measured("ours", 60), missing];

describe("the page", () => {
  const page = speedPage(RESULTS, { machine: "2 cores.", quick: true });
  const rows = page.split("\n").filter((line) => line.startsWith("| "));

  test("has a row for each configuration, also for one that is not there", () => {
    expect(rows.slice(2).map((row) => row.split("|")[1]!.trim())).toEqual(["raw", "ours", "<missing>"]);
    expect(rows.at(-1)).toContain("not installed");
    expect(new Set(rows.map((row) => row.split("|").length)).size).toBe(1);
  });

  test("says which ratios the rounds had, and that a quick run is rough", () => {
    expect(rows[3]).toContain("× 2.00 (1.00–3.00)");
    expect(page).toContain("2 cores. **A quick run: rough.**");
    expect(speedPage(RESULTS, { machine: "2 cores.", quick: false })).not.toContain("rough.**");
  });

  test("describes every configuration", () => {
    expect(page.match(/^- \*\*.+Nothing\.$/gm)).toHaveLength(3);
  });
});

describe("the chart", () => {
  const chart = speedChart(RESULTS);
  const barsOf = (name: string) =>
    [...chart.matchAll(new RegExp(`<rect class="${name}".* width="([\\d.]+)"`, "g"))].map(([, width]) =>
      Number(width),
    );

  test("has a bar in each of four panels for what was measured", () => {
    expect(barsOf("ours")).toHaveLength(4);
    expect(barsOf("bar")).toHaveLength(4);
    expect(chart).not.toContain("missing");
  });

  test("draws more as a longer bar, and the same as one of the same length", () => {
    const [ours, others] = [barsOf("ours"), barsOf("bar")];
    expect(ours.slice(0, 3).every((width, panel) => width > others[panel]!)).toBe(true);
    expect(ours[3]).toBe(others[3]!);
  });

  test("keeps names from being read as elements", () => {
    const named = speedChart([measured('<a & "b">', 20)]);
    expect(named).toContain("&lt;a &amp; &quot;b&quot;&gt;");
    expect(named).not.toContain("<a ");
  });
});
