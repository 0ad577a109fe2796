// Sends a mail to SERVICE_MAIL when no key of a Level can take requests: all of them sleep or are disabled. A
// resting key is back within seconds and counts as usable. A notice is a hint: it is not stored, may be lost,
// and is sent about once an hour per Level at most. The node that owns the Level sends it; the other nodes
// receive the same publication and stay silent for that hour too, in case they become the owner.

import type { AccountId } from "../../actors/ids.ts";
import { actorRef, type Protocol } from "../../actors/index.ts";
import { healthOf, type LevelChanged, type LevelView, usability } from "../../actors/level/view.ts";
import { MINUTE_MS } from "../../actors/time.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ActorSystem } from "../runtime/system.ts";
import type { Mailer } from "./mail.ts";
import type { SenderFor } from "./senders.ts";
import { levelLetter } from "./templates.ts";

/** What the notices need of a node. */
export interface NoticeParts {
  readonly system: ActorSystem<Protocol>;
  readonly clock: Clock;
  readonly log: Log;
  readonly mailer: Mailer;
  readonly senderFor: SenderFor;
}

const HOUR_MS = 60 * MINUTE_MS;
/**
 * After a failure the notice is sent again with a later publication of the Level, but not within this time,
 * ms.
 */
const AGAIN_MS = MINUTE_MS;
const LEVELS_MAX = 10_000;

/** Subscribes to the publications of all Levels. Returns a function that stops it. Failures are logged. */
export function startLevelNotices(parts: NoticeParts): () => void {
  const { system, clock, log, mailer, senderFor } = parts;
  /** Monotonic milliseconds before which no notice about a Level is sent. */
  const silentUntil = new Map<string, number>();

  function silence(id: string, ms: number): void {
    silentUntil.delete(id);
    if (silentUntil.size >= LEVELS_MAX) silentUntil.delete(silentUntil.keys().next().value!);
    silentUntil.set(id, clock.mono() + ms);
  }

  /** Sends a notice if the Level is down. Returns how long to stay silent about the Level, ms. */
  async function notice(news: LevelChanged): Promise<number> {
    const [owner, level] = news.id.split(".").map(Number) as [AccountId, number];
    const view = "keys" in news ? news : await system.ask(actorRef.level(owner, level), "view", {});
    const down = downOf(view, clock.wall());
    if (down === null) return 0;
    if (!system.owns(actorRef.level(owner, level))) return HOUR_MS;
    const { serviceMail } = await system.ask(actorRef.owner(owner), "read", {});
    const sender = serviceMail === "" ? null : await senderFor(owner);
    if (sender === null) return HOUR_MS;
    const letter = levelLetter({ owner, level, at: clock.wall(), ...down }, sender.from, serviceMail);
    const sent = await mailer.send(sender.server, letter);
    if (!sent.ok) log("warn", "level_notice_failed", { level: news.id, why: sent.why });
    return sent.ok ? HOUR_MS : AGAIN_MS;
  }

  return system.subscribe("level.>", (_topic, body) => {
    const news = body as LevelChanged;
    if (clock.mono() < (silentUntil.get(news.id) ?? 0) || !mayBeDown(news, clock.wall())) return;
    silence(news.id, AGAIN_MS);
    notice(news)
      .then((ms) => silence(news.id, ms))
      .catch((error) => log("warn", "level_notice_failed", { level: news.id, error: String(error) }));
  });
}

/** Most publications are of healthy Levels, whose view need not be read. */
const mayBeDown = (news: LevelChanged, now: number): boolean =>
  "keys" in news || news.health.some((one) => one.sleepsUntil > now);

/** Returns null when at least one key can be used, or when the Level has no keys. */
function downOf(
  view: LevelView,
  now: number,
): { sleeping: number; disabled: number; wakesAt: number | null } | null {
  const health = healthOf(view);
  let [sleeping, disabled, wakesAt] = [0, 0, Number.POSITIVE_INFINITY];
  for (const key of view.keys) {
    const found = usability(key, health?.get(key.id), "", now);
    if (found.state === "disabled") disabled++;
    else if (found.state !== "sleeping") return null;
    else {
      sleeping++;
      wakesAt = Math.min(wakesAt, found.until);
    }
  }
  if (view.keys.length === 0) return null;
  return { sleeping, disabled, wakesAt: sleeping === 0 ? null : wakesAt };
}
