// Subtitles as transcription models give them (SRT, WebVTT): when they end, and what is said in them.

const STAMP = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/;
const LINE = new RegExp(`^\\s*${STAMP.source}\\s*-->\\s*${STAMP.source}`);
const ARROW = "-->";

/** Seconds at the latest end of a line; null without one. */
export function subtitleSeconds(text: string): number | null {
  let last: number | null = null;
  for (const line of text.split("\n")) {
    const found = line.includes(ARROW) ? LINE.exec(line) : null;
    if (found === null) continue;
    const [hours, minutes, seconds, fraction] = found.slice(5);
    const parts = [
      Number(hours ?? 0) * 3_600,
      Number(minutes) * 60,
      Number(seconds),
      Number(`0.${fraction}`),
    ];
    last = Math.max(
      last ?? 0,
      parts.reduce((sum, part) => sum + part),
    );
  }
  return last;
}

/** The words alone: no stamps, no numbers of lines, no head. */
export const subtitleWords = (text: string): string =>
  text
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.includes(ARROW) && !/^\d+$/.test(line) && line !== "WEBVTT")
    .join("\n");
