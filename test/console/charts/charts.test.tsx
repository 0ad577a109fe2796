// Charts as they are drawn: what a mark says, where the arrows lead, what is 0 and what is not known, colours that everybody can
// tell apart, and no style that the policy of the pages would refuse.

import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { renderToStaticMarkup } from "react-dom/server";
import { type Nanos, toNanos, usdText } from "../../../console/api/amount.ts";
import { Lines, linePath, Sparkline } from "../../../console/charts/lines.tsx";
import { type ChartMark, nextMark } from "../../../console/charts/marks.tsx";
import { plotOf, seriesColor, ticksUpTo } from "../../../console/charts/scale.ts";
import { StackedBars } from "../../../console/charts/stacked-bars.tsx";
import { TreeFlow } from "../../../console/charts/tree-flow.tsx";

const CHARTS = join(import.meta.dir, "../../../console/charts");
const usd = (dollars: number): Nanos => toNanos(BigInt(Math.round(dollars * 1e9)));
const text = (value: Nanos) => `${usdText(value)} USD`;
const labelsOf = (markup: string) =>
  [...markup.matchAll(/data-mark="[^"]*" aria-label="([^"]*)"/g)].map((m) => m[1]!);

const DAYS = ["21 Nov", "22 Nov", "23 Nov"].map((label, i) => ({ key: `2026-11-${21 + i}`, label }));
const MODELS = ["gpt-4o", "(other)"].map((key) => ({ key, label: key }));

const bars = renderToStaticMarkup(
  <StackedBars
    label="Cost by day"
    columns={DAYS}
    series={MODELS}
    values={[
      [usd(3), usd(0), null],
      [usd(1.000000001), usd(0), null],
    ]}
    totals={[usd(4.000000001), usd(0), null]}
    text={text}
    noData="no data"
    onPick={() => undefined}
  />,
);

describe("bars", () => {
  test("say each value in full; what is 0 and what is not known differ", () => {
    expect(labelsOf(bars)).toEqual([
      "21 Nov, gpt-4o: 3.00 USD",
      "21 Nov, (other): 1.000000001 USD",
      "22 Nov: 0.00 USD",
      "23 Nov: no data",
    ]);
    expect(bars.match(/stroke-dasharray="3 3"/g)).toHaveLength(1);
  });

  test("have one stop of the Tab key, and values that open are buttons", () => {
    expect(bars.match(/tabindex="0"/g)).toHaveLength(1);
    expect(bars.match(/role="button"/g)).toHaveLength(2);
    expect(bars.match(/role="img"/g)).toHaveLength(2);
  });

  test("have a legend in the colours of their parts", () => {
    expect(bars.match(/fill="var\(--chart-1\)"/g)).toHaveLength(2);
    expect(bars.match(/fill="var\(--chart-other\)"/g)).toHaveLength(2);
    expect(bars).toContain("<ul");
  });

  test("stand on each other, as high as their share of the highest line", () => {
    const heights = [...bars.matchAll(/<rect x="[^"]*" y="([^"]*)" width="48" height="([^"]*)"/g)];
    const [[, lowY, low], [, highY, high]] = heights as unknown as [string[], string[]];
    expect(Number(low) / Number(high)).toBeCloseTo(3 / 1.000000001, 4);
    expect(Number(highY) + Number(high)).toBeCloseTo(Number(lowY), 6);
  });

  test("of counts are drawn the same way, and none at all is no failure", () => {
    const count = (values: (number | null)[][], totals: (number | null)[]) =>
      renderToStaticMarkup(
        <StackedBars
          {...{ label: "Requests", columns: DAYS, series: MODELS, values, totals, text: String, noData: "–" }}
        />,
      );
    expect(labelsOf(count([[2, 0, null], []], [2, 0, null]))).toEqual([
      "21 Nov, gpt-4o: 2",
      "22 Nov: 0",
      "23 Nov: –",
    ]);
    expect(labelsOf(count([], []))).toEqual(DAYS.map(({ label }) => `${label}: –`));
  });
});

describe("lines", () => {
  const markup = renderToStaticMarkup(
    <Lines label="Cost" columns={DAYS} series={MODELS} values={[[usd(1), null, usd(2)], []]} text={text} />,
  );

  test("say each value that there is", () => {
    expect(labelsOf(markup)).toEqual(["21 Nov, gpt-4o: 1.00 USD", "23 Nov, gpt-4o: 2.00 USD"]);
    expect(markup.match(/role="img"/g)).toHaveLength(2);
  });

  test("are interrupted where nothing is known", () => {
    const plot = plotOf({ width: 30, height: 28, columns: 3 }, 2, () => "");
    expect(linePath([1, 2, 1], plot)).toBe("M5.0 9.0h0L15.0 8.0L25.0 9.0");
    expect(linePath([1, null, 2], plot)).toBe("M5.0 9.0h0M25.0 8.0h0");
    expect(linePath([null, null, null], plot)).toBe("");
  });

  test("small ones have a name and no more", () => {
    const small = renderToStaticMarkup(<Sparkline label="last hour: 3 requests" values={[0, 3, null]} />);
    expect(small).toStartWith('<svg role="img" aria-label="last hour: 3 requests"');
    expect(small.match(/<path/g)).toHaveLength(1);
    expect(renderToStaticMarkup(<Sparkline label="none" values={[]} />)).toContain('d=""');
  });
});

test("a flow shows what is 0 without a band, what is not known in words, and all else by its share", () => {
  const picked: string[] = [];
  const markup = renderToStaticMarkup(
    <TreeFlow
      label="Where all credit is"
      whole={usd(100)}
      sources={[{ key: "minted", label: "Given by Root", value: usd(100) }]}
      uses={[
        { key: "balances", label: "Balances", value: usd(75) },
        { key: "charges", label: "Charges", value: usd(25) },
        { key: "difference", label: "Difference", value: usd(0) },
        { key: "held", label: "Held", value: null },
      ]}
      text={text}
      noData="no data"
      onPick={(key) => picked.push(key)}
    />,
  );
  expect(labelsOf(markup)).toEqual([
    "Given by Root: 100.00 USD",
    "Balances: 75.00 USD",
    "Charges: 25.00 USD",
    "Difference: 0.00 USD",
    "Held: no data",
  ]);
  // The trunk and three bands: as high as their shares of 140 points.
  expect([...markup.matchAll(/v([\d.]+)C/g)].map((match) => Number(match[1]))).toEqual([140, 140, 105, 35]);
  expect(markup.match(/role="button"/g)).toHaveLength(4);
});

test("no chart has a style of its own, an animation or a colour that is not the theme's", () => {
  const flow = <TreeFlow label="f" whole={1} sources={[]} uses={[]} text={String} noData="" />;
  const all = [
    bars,
    renderToStaticMarkup(flow),
    renderToStaticMarkup(<Sparkline label="s" values={[1, 2]} />),
  ];
  for (const markup of all) {
    expect(markup).not.toMatch(/ style=|<style|<animate|#[0-9a-f]{3}/i);
    for (const [, paint] of markup.matchAll(/(?:fill|stroke)="([^"]*)"/g)) {
      expect(paint).toMatch(/^(var\(--(chart|mantine)-[\w-]+\)|none|currentColor)$/);
    }
  }
});

test("all charts together have at most 400 lines, which is why they are our own", () => {
  const files = [...new Bun.Glob("*").scanSync(CHARTS)];
  const lines = files.map((file) => readFileSync(join(CHARTS, file), "utf8").trimEnd().split("\n").length);
  expect(lines.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(400);
});

describe("arrows", () => {
  const at = (column: number, row: number): ChartMark => ({
    ...{ key: `${column} ${row}`, column, row, label: "", shape: null },
  });
  // A column of three, one that lacks the middle, and one of one.
  const marks = [at(0, 0), at(0, 1), at(0, 2), at(1, 0), at(1, 2), at(2, 0)];
  const from = (key: string, arrow: string) =>
    nextMark(marks, marks.find((mark) => mark.key === key)!, arrow).key;

  test.each([
    ["0 0", "ArrowUp", "0 1"],
    ["0 2", "ArrowDown", "0 1"],
    ["1 0", "ArrowUp", "1 2"],
    ["0 1", "ArrowRight", "1 0"],
    ["0 2", "ArrowRight", "1 2"],
    ["2 0", "ArrowLeft", "1 0"],
    ["2 0", "ArrowRight", "2 0"],
    ["0 2", "ArrowUp", "0 2"],
    ["0 0", "ArrowLeft", "0 0"],
  ])("from %s by %s to %s", (start, arrow, end) => expect(from(start, arrow)).toBe(end));
});

describe("round values", () => {
  test.each<[bigint | number | null, (bigint | number)[]]>([
    [null, []],
    [0, [0]],
    [0n, [0n]],
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [7, [0, 2, 4, 6, 8]],
    [0.7, [0, 0.2, 0.4, 0.6, 0.8]],
    [100, [0, 50, 100]],
    [1n, [0n, 1n]],
    [4_000_000_001n, [0n, 2_000_000_000n, 4_000_000_000n, 6_000_000_000n]],
  ])("up to %p", (greatest, ticks) => expect(ticksUpTo(greatest)).toEqual(ticks));

  test("reach every greatest value with at most four lines above 0", () => {
    const any = fc.oneof(
      fc.bigInt({ min: 1n, max: 10n ** 25n }),
      fc.nat(),
      fc.double({ min: 1e-9, max: 1e12, noNaN: true }),
    );
    fc.assert(
      fc.property(any, (greatest) => {
        const ticks = ticksUpTo<bigint | number>(greatest);
        expect(ticks.length).toBeWithin(1, 6);
        // The last line of a bigint that no double holds may be a hair below.
        expect(Number(ticks.at(-1)!)).toBeGreaterThanOrEqual(Number(greatest) * (1 - 1e-12));
        expect(ticks.every((tick) => typeof tick === typeof greatest)).toBe(true);
      }),
    );
  });
});

describe("colours", () => {
  type Rgb = readonly [number, number, number];
  const css = readFileSync(join(import.meta.dir, "../../../console/styles/colors.css"), "utf8");
  const schemes = [...css.matchAll(/^:root[^{]*\{([^}]*)\}/gm)].map(([, rules]) =>
    [...rules!.matchAll(/--chart-\w+: (#[0-9a-f]{6});/g)].map(([, hex]) => linear(hex!)),
  );
  /** The page in light and in dark: `--mantine-color-body`. */
  const BODIES = ["#ffffff", "#242424"].map(linear);

  function linear(hex: string): Rgb {
    const part = (from: number): number => {
      const value = Number.parseInt(hex.slice(from, from + 2), 16) / 255;
      return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    };
    return [part(1), part(3), part(5)];
  }
  const luminance = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  const contrast = (a: number, b: number): number => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

  /** How eyes without one kind of cone see linear light. Source: Machado, Oliveira, Fernandes 2009, severity 1. */
  const SIGHTS: readonly (readonly Rgb[])[] = [
    [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
    [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    [
      [1.255528, -0.076749, -0.178779],
      [-0.078411, 0.930809, 0.147602],
      [0.004733, 0.691367, 0.3039],
    ],
  ];
  const times = (rows: readonly Rgb[], [a, b, c]: Rgb): Rgb =>
    rows.map(([x, y, z]) => Math.min(1, Math.max(0, x * a + y * b + z * c))) as unknown as Rgb;

  /** A colour where distances are as they are seen. Source: Ottosson, OKLab. */
  function perceived(rgb: Rgb): Rgb {
    const [l, m, s] = times(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      rgb,
    ).map(Math.cbrt) as unknown as Rgb;
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }
  const distance = (a: Rgb, b: Rgb): number =>
    Math.min(
      ...SIGHTS.map((sight) => {
        const [p, q] = [perceived(times(sight, a)), perceived(times(sight, b))];
        return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
      }),
    );

  test("are eight and a grey, in light and in dark", () => {
    expect(schemes.map((colors) => colors.length)).toEqual([9, 9]);
    expect([0, 7, 8].map((index) => seriesColor(index, "a"))).toEqual([
      ...["var(--chart-1)", "var(--chart-8)", "var(--chart-other)"],
    ]);
  });

  test("stand out from the page by 3 to 1", () => {
    schemes.forEach((colors, i) => {
      for (const color of colors) {
        expect(contrast(luminance(color), luminance(BODIES[i]!))).toBeGreaterThanOrEqual(3);
      }
    });
  });

  test("differ for every kind of sight", () => {
    for (const colors of schemes) {
      const pairs = colors.flatMap((a, i) => colors.slice(i + 1).map((b) => distance(a, b)));
      expect(Math.min(...pairs)).toBeGreaterThan(0.08);
    }
  });
});
