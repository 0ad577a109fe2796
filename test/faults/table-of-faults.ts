// What every fault of an answer leads to, by hand: one line, one expectation. The faults themselves are the stand-in's.
// Nothing of this is worked out by the code that it is held against.

import { answered, cut, FAILED, FAILURE, NO_KEY, refused, type Sheet, TIMEOUT, WELL } from "./rows.ts";

const failed = refused(FAILED, FAILURE);
const late = refused(TIMEOUT, FAILURE);
/** The time for all attempts together is over. */
const tooLate = refused(TIMEOUT, FAILURE, { over: false });

/** After three events the chat style has said two words, the messages style, which opens a block first, one. */
const cutAfterThree: Sheet = { whole: failed, chat: cut(2), messages: cut(1) };
const stalled: Sheet = {
  whole: late,
  chat: cut(2, TIMEOUT[1]),
  messages: cut(1, TIMEOUT[1]),
};

export const FAULT_SHEETS: Readonly<Record<string, Sheet>> = {
  reset: failed,
  "reset how=fin": failed,
  hang: { whole: tooLate, streamed: late },

  cut: cutAfterThree,
  "cut how=fin": cutAfterThree,
  "cut how=clean": cutAfterThree,
  "cut after=0": failed,
  "cut after=1": failed,
  "cut after=8": { whole: failed, chat: cut(7), messages: cut(6) },
  "cut usage=cumulative": { whole: failed, chat: cut(2), "messages streamed": cut(1) },
  "cut usage=none": cutAfterThree,
  "cut gzip": cutAfterThree,

  stall: stalled,
  "stall after=1": late,
  "stall after=2 pings=2": late,
  "stall usage=none": stalled,

  empty: failed,
  no_done: answered(),
  // The provider bills the answer that it made: no other key is asked to make it again.
  unstreamed: { whole: answered(), streamed: refused([400, "invalid_parameter"], WELL, { over: false }) },

  error_event: {
    "chat whole": failed,
    "messages whole": refused(NO_KEY, FAILURE),
    chat: cut(2),
    messages: cut(1, NO_KEY[1]),
  },
  "error_event after=1": { chat: failed, messages: refused(NO_KEY, FAILURE) },

  // With a pause after each event, so that the provider hears that nobody reads on before it has said everything.
  "garbage chunk_ms=20": cutAfterThree,
  "garbage after=0": failed,

  huge: answered(),
  comments: answered(),
  azure: answered(),
  no_delta: answered(),
  crlf: answered(),
  split: answered(),
  split_utf8: answered(),
  join: answered(),
};
