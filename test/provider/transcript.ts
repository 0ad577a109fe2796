// A transcript in each format that can be asked for. Text, srt and vtt say nothing of usage.

export interface Transcript {
  readonly task: "transcribe" | "translate";
  readonly text: string;
  readonly seconds: number;
  readonly language: string;
  readonly wordTimes: boolean;
  /** A `usage` field, or nothing. */
  readonly usage: object;
}

interface Format {
  readonly type: string;
  readonly transcribeOnly?: true;
  readonly body: (transcript: Transcript) => string;
}

const JSON_TYPE = "application/json";
const TEXT_TYPE = "text/plain; charset=utf-8";

export const FORMATS: Readonly<Record<string, Format>> = {
  json: { type: JSON_TYPE, body: ({ text, usage }) => JSON.stringify({ text, ...usage }) },
  text: { type: TEXT_TYPE, body: ({ text }) => `${text}\n` },
  srt: {
    type: TEXT_TYPE,
    body: (transcript) =>
      segmentsOf(transcript)
        .map(
          ({ start, end, text }, nth) =>
            `${nth + 1}\n${stamp(start, ",")} --> ${stamp(end, ",")}\n${text}\n\n`,
        )
        .join(""),
  },
  vtt: {
    type: TEXT_TYPE,
    body: (transcript) =>
      `WEBVTT\n\n${segmentsOf(transcript)
        .map(({ start, end, text }) => `${stamp(start, ".")} --> ${stamp(end, ".")}\n${text}\n\n`)
        .join("")}`,
  },
  verbose_json: { type: JSON_TYPE, body: (transcript) => JSON.stringify(verbose(transcript)) },
  diarized_json: {
    type: JSON_TYPE,
    transcribeOnly: true,
    body: (transcript) => {
      const { task, seconds: duration, text, usage } = transcript;
      const segments = segmentsOf(transcript).map((segment, nth) => ({
        type: "transcript.text.segment",
        ...segment,
        id: `seg_${nth}`,
        speaker: "AB"[nth % 2],
      }));
      return JSON.stringify({ task, duration, text, segments, ...usage });
    },
  },
};

function verbose(transcript: Transcript): object {
  const { task, language, seconds, text, wordTimes, usage } = transcript;
  const segments = segmentsOf(transcript).map((segment, id) => ({
    id,
    seek: 0,
    ...segment,
    tokens: [],
    temperature: 0,
    avg_logprob: -0.3,
    compression_ratio: 1,
    no_speech_prob: 0.01,
  }));
  const words = timed(text.split(" "), seconds).map(({ text: word, start, end }) => ({ word, start, end }));
  return { task, language, duration: seconds, text, segments, ...(wordTimes && { words }), ...usage };
}

const SEGMENT_WORDS = 6;

function segmentsOf({ text, seconds }: Transcript) {
  const words = text.split(" ");
  const count = Math.ceil(words.length / SEGMENT_WORDS);
  return timed(
    Array.from({ length: count }, (_, nth) =>
      words.slice(nth * SEGMENT_WORDS, (nth + 1) * SEGMENT_WORDS).join(" "),
    ),
    seconds,
  );
}

/** Texts laid evenly over the time; the last ends with it. */
const timed = (texts: readonly string[], seconds: number) =>
  texts.map((text, nth) => ({
    start: (seconds * nth) / texts.length,
    end: (seconds * (nth + 1)) / texts.length,
    text,
  }));

/** Such as 00:01:02,345. */
function stamp(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => `${Math.floor(value)}`.padStart(2, "0");
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map(two).join(":");
  return `${clock}${point}${`${ms % 1000}`.padStart(3, "0")}`;
}
