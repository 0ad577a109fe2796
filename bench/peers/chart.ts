// Draws bar charts as one SVG: a panel for each figure, a bar with its value for each configuration. The scale is logarithmic,
// because the values of a panel differ by up to a thousand times. It is pure.

export interface Panel {
  readonly title: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  readonly name: string;
  /** Values below `VALUE_MIN` are drawn as that. */
  readonly value: number;
  /** The value as it is written beside the bar. */
  readonly label: string;
  /** Whether the bar stands out. */
  readonly isOurs: boolean;
}

const WIDTH = 880;
const MARGIN = 20;
const COLUMNS = 2;
const COLUMN_WIDTH = (WIDTH - MARGIN) / COLUMNS;
const NAME_WIDTH = 118;
const LABEL_WIDTH = 86;
const BAR_WIDTH_MAX = COLUMN_WIDTH - MARGIN - NAME_WIDTH - LABEL_WIDTH;
const BAR_HEIGHT = 16;
const ROW_HEIGHT = 24;
const TITLE_HEIGHT = 34;
const VALUE_MIN = 0.01;

/** A background of its own keeps the text legible wherever the picture stands, and follows the reader's dark mode. */
const STYLE = `
  .paper { fill: #ffffff } text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-weight: 600 } .bar { fill: #8c959f } .ours { fill: #1f7a3f } .grid { stroke: #d1d9e0 }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #161b22 } text { fill: #e6edf3 } .bar { fill: #7d8590 } .ours { fill: #3fb950 }
    .grid { stroke: #3d444d }
  }`;

/** Draws all panels, two in a row. The lines of a panel stand for powers of ten. */
export function drawChart(title: string, panels: readonly Panel[]): string {
  const rows = Math.max(...panels.map(({ bars }) => bars.length));
  const panelHeight = TITLE_HEIGHT + rows * ROW_HEIGHT + MARGIN;
  const height = MARGIN + Math.ceil(panels.length / COLUMNS) * panelHeight;
  const drawn = panels.map((panel, nth) => {
    const x = MARGIN + (nth % COLUMNS) * COLUMN_WIDTH;
    const y = MARGIN + Math.floor(nth / COLUMNS) * panelHeight;
    return drawPanel(panel, x, y);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}" rx="8"/>`,
    ...drawn.flat(),
    "</svg>\n",
  ].join("\n");
}

function drawPanel({ title, bars }: Panel, x: number, y: number): string[] {
  const powers = bars.map(({ value }) => Math.log10(Math.max(value, VALUE_MIN)));
  const first = Math.floor(Math.min(...powers));
  const span = Math.max(...powers, first + 1) - first;
  const start = x + NAME_WIDTH;
  const widthOf = (power: number) => Math.max(1, ((power - first) / span) * BAR_WIDTH_MAX);
  const top = y + TITLE_HEIGHT - 4;
  const bottom = top + bars.length * ROW_HEIGHT;
  const grid = Array.from({ length: Math.floor(span) + 1 }, (_, power) => {
    const at = (start + (power / span) * BAR_WIDTH_MAX).toFixed(1);
    return `<line class="grid" x1="${at}" y1="${top}" x2="${at}" y2="${bottom}"/>`;
  });
  const lines = bars.flatMap(({ name, label, isOurs }, nth) => {
    const barTop = top + 4 + nth * ROW_HEIGHT;
    const width = widthOf(powers[nth]!);
    const baseline = barTop + BAR_HEIGHT - 3;
    return [
      `<text x="${start - 8}" y="${baseline}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${isOurs ? "ours" : "bar"}" x="${start}" y="${barTop}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`,
      `<text x="${(start + width + 6).toFixed(1)}" y="${baseline}">${escaped(label)}</text>`,
    ];
  });
  return [`<text class="title" x="${x}" y="${y + 14}">${escaped(title)}</text>`, ...grid, ...lines];
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
