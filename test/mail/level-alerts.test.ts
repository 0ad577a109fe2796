// SERVICE_MAIL hears of a Level none of whose keys can be used, at most once an hour; of a Level that merely limps, not.

import { describe, expect, test } from "bun:test";
import type { ProviderKeyId } from "../../actors/ids.ts";
import type { Protocol } from "../../actors/index.ts";
import type { KeyHealth, LevelKey, LevelView } from "../../actors/level/view.ts";
import { owner } from "../../actors/owner/owner.ts";
import type { Log } from "../../src/base/log.ts";
import { startLevelNotices } from "../../src/mail/level-alerts.ts";
import type { Sender } from "../../src/mail/senders.ts";
import type { ActorSystem } from "../../src/runtime/system.ts";
import { manualClock, NOON, settled } from "../runtime/manual-clock.ts";
import { memoryMailer } from "./memory-mailer.ts";

const MINUTE = 60_000;
const SENDER: Sender = {
  server: { host: "mail.example", port: 587, security: "offered", login: null },
  from: "service@owner.example",
};

const keyOf = (id: number, state: LevelKey["state"] = "normal"): LevelKey => ({
  id: id as ProviderKeyId,
  level: 4,
  provider: "https://api.example.com/v1",
  secret: { keyId: "k", box: "" },
  config: {},
  state,
});
const healthOf = (key: number, over: Partial<KeyHealth>): KeyHealth => ({
  ...{ key: key as ProviderKeyId, failures: 3, sleepTimes: 1, sleepsUntil: 0, restsUntil: 0 },
  ...{ reason: "server_error", waking: false, passedOver: [] },
  ...over,
});
const asleep = (key: number, untilMs = NOON + 5 * MINUTE) => healthOf(key, { sleepsUntil: untilMs });
const viewOf = (keys: readonly LevelKey[], health: readonly KeyHealth[] = []): LevelView => ({
  ...{ id: "2.4", version: 1, members: 1, switchedUntil: 0 },
  keys,
  health,
});
const DOWN = viewOf([keyOf(1), keyOf(2, "disabled")], [asleep(1)]);

function rig({ serviceMail = "ops@owner.example", sender = SENDER as Sender | null } = {}) {
  const clock = manualClock();
  const mailer = memoryMailer();
  const logged: string[] = [];
  const asked: string[] = [];
  let current = DOWN;
  let owned = true;
  let deliver: (topic: string, body: unknown) => void = () => {};
  const system = {
    async ask(_to: unknown, type: string) {
      asked.push(type);
      return type === "view" ? current : { ...owner.empty("2").config, serviceMail };
    },
    subscribe(_topic: string, handle: typeof deliver) {
      deliver = handle;
      return () => {
        deliver = () => {};
      };
    },
    owns: () => owned,
  } as unknown as ActorSystem<Protocol>;
  const log: Log = (_level, event) => void logged.push(event);
  const stop = startLevelNotices({ system, clock, log, mailer, senderFor: async () => sender });
  return {
    clock,
    mailer,
    logged,
    asked,
    stop,
    /** The Level comes to this node, or leaves it. */
    move(here: boolean) {
      owned = here;
    },
    async publish(view: LevelView, { withoutKeys = false } = {}) {
      current = view;
      const { keys: _, ...rest } = view;
      deliver(`level.${view.id}`, withoutKeys ? rest : view);
      await settled();
    },
  };
}

describe("a Level", () => {
  test.each<[string, LevelView, number]>([
    ["whose keys all sleep or are disabled is reported", DOWN, 1],
    ["whose keys are all disabled is reported", viewOf([keyOf(1, "disabled")]), 1],
    ["with one key that is well is not", viewOf([keyOf(1), keyOf(2)], [asleep(1)]), 0],
    [
      "with a key that merely rests is not",
      viewOf([keyOf(1)], [healthOf(1, { restsUntil: NOON + MINUTE })]),
      0,
    ],
    ["with a key that woke is not", viewOf([keyOf(1)], [healthOf(1, { waking: true })]), 0],
    ["whose sleep is over is not", viewOf([keyOf(1)], [asleep(1, NOON - 1)]), 0],
    ["without keys is not", viewOf([]), 0],
  ])("%s", async (_what, view, letters) => {
    const { publish, mailer } = rig();
    await publish(view);
    expect(mailer.letters).toHaveLength(letters);
  });

  test("is reported by a publication without its keys, too", async () => {
    const { publish, mailer } = rig();
    await publish(DOWN, { withoutKeys: true });
    expect(mailer.letters).toHaveLength(1);
  });

  test("that is well costs no further look", async () => {
    const { publish, asked } = rig();
    await publish(viewOf([keyOf(1)], [healthOf(1, {})]), { withoutKeys: true });
    expect(asked).toEqual([]);
  });
});

describe("a notice", () => {
  test("goes to SERVICE_MAIL and says what is the matter", async () => {
    const { publish, mailer } = rig();
    await publish(DOWN);
    const { letter, server } = mailer.letters[0]!;
    expect([letter.to, letter.from, server]).toEqual(["ops@owner.example", SENDER.from, SENDER.server]);
    expect(letter.subject).toBe("Level 4 has no usable key");
    expect(letter.text).toContain("1 asleep, 1 disabled");
    expect(letter.text).toContain(new Date(NOON + 5 * MINUTE).toISOString());
  });

  test("is sent at most once an hour, and again after it", async () => {
    const { publish, mailer, clock } = rig();
    const later = viewOf([keyOf(1)], [asleep(1, NOON + 600 * MINUTE)]);
    for (let i = 0; i < 59; i++) {
      await publish(later);
      await clock.advance(MINUTE);
    }
    expect(mailer.letters).toHaveLength(1);
    await clock.advance(MINUTE);
    await publish(later);
    expect(mailer.letters).toHaveLength(2);
    expect(mailer.letters[0]!.letter.messageId).not.toBe(mailer.letters[1]!.letter.messageId);
  });

  test("about one Level does not silence another", async () => {
    const { publish, mailer } = rig();
    await publish(DOWN);
    await publish({ ...DOWN, id: "2.5" });
    expect(mailer.letters.map(({ letter }) => letter.subject)).toEqual([
      "Level 4 has no usable key",
      "Level 5 has no usable key",
    ]);
  });

  test("that could not be sent is tried again a minute later, not at every word of the Level", async () => {
    const { publish, mailer, clock, logged } = rig();
    mailer.faults.push("timeout", "timeout");
    await publish(DOWN);
    await publish(DOWN);
    expect([mailer.faults.length, logged]).toEqual([1, ["level_notice_failed"]]);
    await clock.advance(MINUTE);
    await publish(DOWN);
    await clock.advance(MINUTE);
    await publish(DOWN);
    expect(mailer.letters).toHaveLength(1);
  });

  test.each([
    ["without SERVICE_MAIL", { serviceMail: "" }],
    ["without a mail server", { sender: null }],
  ])("is not written %s", async (_what, given) => {
    const { publish, mailer, logged } = rig(given);
    await publish(DOWN);
    expect([mailer.letters, logged]).toEqual([[], []]);
  });

  test("is not written any more once it is stopped", async () => {
    const { publish, mailer, stop } = rig();
    stop();
    await publish(DOWN);
    expect(mailer.letters).toEqual([]);
  });
});

describe("in a cluster", () => {
  const later = viewOf([keyOf(1)], [asleep(1, NOON + 600 * MINUTE)]);

  test("a node that does not serve the Level sends nothing", async () => {
    const { publish, move, mailer } = rig();
    move(false);
    await publish(later);
    expect(mailer.letters).toEqual([]);
  });

  test("the next node to serve it speaks of it an hour after the one before it, not sooner", async () => {
    const { publish, move, mailer, clock } = rig();
    move(false);
    await publish(later);
    move(true);
    await clock.advance(59 * MINUTE);
    await publish(later);
    expect(mailer.letters).toEqual([]);
    await clock.advance(2 * MINUTE);
    await publish(later);
    expect(mailer.letters).toHaveLength(1);
  });
});
