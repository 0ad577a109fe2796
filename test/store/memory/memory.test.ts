// The store in memory keeps the contract of every store.

import { realClock } from "../../../src/base/clock.ts";
import { testStore } from "../../suites/store.suite.ts";
import { memoryStore } from "./memory.ts";

testStore("memory", async () => memoryStore({ clock: realClock() }));
