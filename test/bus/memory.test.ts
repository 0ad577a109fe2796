// The bus in memory keeps the contract of every bus.

import { memoryBus } from "../../src/bus/memory.ts";
import { settled } from "../runtime/manual-clock.ts";
import { testBus } from "../suites/bus.suite.ts";

testBus("memory", async () => memoryBus(), settled);
