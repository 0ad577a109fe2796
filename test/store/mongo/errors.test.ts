// What errors of the driver mean, for those that no server can be made to give on demand: a majority that is missing above
// all.

import { describe, expect, test } from "bun:test";
import {
  type BulkWriteResult,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  MongoWriteConcernError,
} from "mongodb";
import { duplicatesOf, isDuplicate, isPassing, UnsettledError } from "../../../src/store/mongo/errors.ts";

const TAKEN = 11_000;

const withoutMajority = new MongoWriteConcernError({
  ok: 1,
  writeConcernError: { code: 64, errmsg: "waiting for replication timed out" },
});

/** A bulk that the server refused at these places, with or without a majority for the rest. */
function refusal(codes: readonly (readonly [index: number, code: number])[], majority = true): Error {
  const result = {
    getWriteConcernError: () => (majority ? undefined : { code: 64, errmsg: "no majority" }),
  } as unknown as BulkWriteResult;
  const writeErrors = codes.map(([index, code]) => ({ index, code, errmsg: `refused with ${code}` }));
  const error = new MongoBulkWriteError({ message: "refused", code: codes[0]?.[1] ?? 64 }, result);
  error.writeErrors = writeErrors as unknown as typeof error.writeErrors;
  return error;
}

const failing = (error: unknown) => () => Promise.reject(error);

describe("the fates of a bulk", () => {
  test("nothing wrong: none is taken", async () => {
    expect([...(await duplicatesOf(async () => {}))]).toEqual([]);
  });

  test("taken keys are returned by their places", async () => {
    const places = await duplicatesOf(
      failing(
        refusal([
          [1, TAKEN],
          [4, TAKEN],
        ]),
      ),
    );
    expect([...places]).toEqual([1, 4]);
  });

  const OPEN: readonly (readonly [string, Error])[] = [
    ["taken keys, and no majority for the rest", refusal([[1, TAKEN]], false)],
    ["no majority for any", refusal([], false)],
    [
      "a place refused for another reason",
      refusal([
        [0, TAKEN],
        [1, 10_107],
      ]),
    ],
    ["a line that was cut", new MongoNetworkError("cut")],
  ];

  test.each(OPEN)("%s: nothing is known, and it is sent again", async (_title, error) => {
    const reason = await duplicatesOf(failing(error)).catch((thrown: unknown) => thrown);
    expect(isPassing(reason)).toBe(true);
  });
});

describe("passing errors", () => {
  const PASSING: readonly (readonly [string, unknown, boolean])[] = [
    ["a cut line", new MongoNetworkError("cut"), true],
    ["a missing majority", withoutMajority, true],
    ["a primary that stepped down", new MongoServerError({ code: 10_107 }), true],
    ["what is not settled", new UnsettledError(""), true],
    ["a client that was put away", new MongoClientClosedError(), true],
    ["a taken key", new MongoServerError({ code: TAKEN }), false],
    ["a wrong password", new MongoServerError({ code: 18 }), false],
    ["a wrong call", new MongoInvalidArgumentError("docs"), false],
    ["a bug of our own", new TypeError("undefined"), false],
  ];

  test.each(PASSING)("%s: %p", (_title, error, passing) => {
    expect(isPassing(error)).toBe(passing);
  });

  test("a taken key is known by its code", () => {
    expect(isDuplicate(new MongoServerError({ code: TAKEN }))).toBe(true);
    expect(isDuplicate(withoutMajority)).toBe(false);
    expect(isDuplicate(new Error("E11000"))).toBe(false);
  });
});
