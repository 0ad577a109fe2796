// What the search over accounts asks for, by the form of the text.

import { expect, test } from "bun:test";
import { type AccountFilter, accountFilterOf } from "../../../console/api/account-filter.ts";

test.each<[string, AccountFilter]>([
  ["", {}],
  ["  ", {}],
  ["17", { id: "17" }],
  [" 17 ", { id: "17" }],
  ["mira@arborgate.example", { email: "mira@arborgate.example" }],
  ["L2", { level: "L2" }],
  ["f1.5", { level: "F1.5" }],
  ["L-1", { level: "-1" }],
  [".1.2.", { dna: ".1.2." }],
  ["Level two", { name: "Level two" }],
  ["L", { name: "L" }],
  ["设计部", { name: "设计部" }],
])("%p is searched as %p", (text, filter) => {
  expect(accountFilterOf(text)).toEqual(filter);
});
