// Closes what tests of several files shared, after them. Loaded before all tests (bunfig.toml), so that its hook comes
// after them all.

import { afterAll } from "bun:test";
import { closeShared } from "./shared.ts";

afterAll(closeShared);
