// What every form of usage and every wait leads to, by hand. The forms are the stand-in's; a form that one style does not
// know is said there as the honest one.

import { answered, counted, FAILURE, refused, type Sheet, TIMEOUT } from "./rows.ts";

const late = refused(TIMEOUT, FAILURE);
/** The time for all attempts together is over. */
const tooLate = refused(TIMEOUT, FAILURE, { over: false });

/** Only the totals are reported. */
const totals = answered([]);

/** In chat the prompt's figure is missing; in messages it came before, and the part that was thinking never comes. */
const outputOnly: Sheet = {
  chat: counted(),
  "messages whole": answered(),
  "messages streamed": answered(["cached", "written"]),
};

/** The stand-in sums up the conversation first: see `usage=iterations`. */
const withCompaction = answered(undefined, { prompt: 1_000, completion: 100 });

export const KNOB_SHEETS: Readonly<Record<string, Sheet>> = {
  "usage=asked": answered(),
  "usage=always": answered(),
  "usage=last_chunk": answered(),
  "usage=last_content": answered(),
  "usage=cumulative": answered(),
  "usage=duplicate": answered(),
  "usage=null_details": totals,
  "usage=deepseek": answered(),
  "usage=moonshot": { chat: answered(["cached"]), else: answered() },
  "usage=beside": answered(),
  "usage=iterations": { chat: answered(), messages: withCompaction },
  // The Owner has priced the model, so whichever answers costs that; and the response names the one that answered.
  "answered=gpt-4o": answered(),
  "usage=output_only": outputOnly,
  // What is hidden is reported all the same, though it could not be counted.
  "usage=output_only output=16 reasoning=4": outputOnly,
  "usage=none": counted(),
  "usage=zero": counted(),
  "usage=garbage": counted(),

  "head_ms=100": answered(),
  "head_ms=40000": { whole: tooLate, streamed: late },
  "first_ms=100": answered(),
  "first_ms=40000": late,
  "chunk_ms=25": answered(),
  // Nothing but the opening has come by then; a whole answer has no second event to wait for.
  "chunk_ms=40000": { whole: answered(), streamed: late },
  "pings=20 chunk_ms=10": answered(),
  gzip: answered(),
};
