// The store in memory keeps the contract of every store.

import { realClock } from "../../../src/base/clock.ts";
import { memoryStore } from "./memory.ts";
import { testStore } from "../../suites/store.suite.ts";

testStore("memory", async () => memoryStore({ clock: realClock() }));
