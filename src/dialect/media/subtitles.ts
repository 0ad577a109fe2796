// Reads subtitles of transcription models (SRT, WebVTT): their end time and their text.

const STAMP = /(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})/;
const LINE = new RegExp(`^\\s*${STAMP.source}\\s*-->\\s*${STAMP.source}`);
const ARROW = "-->";

/** Returns the latest end of a subtitle in seconds, or null without subtitles. */
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

/** Returns the text without timestamps, numbers and header. */
export const subtitleWords = (text: string): string =>
  text
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.includes(ARROW) && !/^\d+$/.test(line) && line !== "WEBVTT")
    .join("\n");
