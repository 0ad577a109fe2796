// Deletions: alone and of a whole subtree, while requests run, and cut off at every step.

import { beforeEach, describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { deleteAccount, sweepDeletions } from "../../src/admin/delete-account.ts";
import { sweepClaims } from "../../src/admin/periodic-sweeps.ts";
import { realClock, sleep } from "../../src/base/clock.ts";
import { UnavailableError } from "../../src/base/errors.ts";
import { admitInput, factsOf, usd } from "../actors/account-samples.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { type Born, dyingAt, memoryTree, refusal, type Tree } from "./tree.ts";

let offsetMs = 0;
beforeEach(() => {
  offsetMs = 0;
});
const tree = preparedEach(() => memoryTree(realClock(() => offsetMs)));
const owner = preparedEach(() => tree.born(ROOT, "acme", 100));
const team = preparedEach(() => tree.born(owner.id, "team-blue", 20));

const remove = (account: AccountId, recursive = false, system = tree.system) =>
  deleteAccount({ ...tree, system }, { account, by: owner.id, recursive });

/** The system while one account cannot be reached. */
const without = (account: AccountId): Tree["system"] => {
  const ask = ((...given: Parameters<Tree["system"]["ask"]>) =>
    given[0].id === String(account)
      ? Promise.reject(new UnavailableError(`account/${account}`, "lost"))
      : tree.system.ask(...given)) as Tree["system"]["ask"];
  return { ...tree.system, ask };
};

const claims = async ({ name, keyHash }: Born) =>
  (await Promise.all([`name:${name}`, `key:${keyHash}`].map((key) => tree.store.findClaim(key)))).map(
    (claim) => claim?.account ?? null,
  );

describe("a deletion", () => {
  test("answers fee and refund when the parent has it, and the lists show it", async () => {
    expect(await remove(team.id)).toEqual({ name: "team-blue", refunded: usd(19.8), fee: usd(0.2) });
    expect(await tree.balance(owner.id)).toBe(usd(99.8));
    expect(await tree.document(owner.id)).toMatchObject({ children: 0, balance: usd(99.8) });
    expect(await tree.document(team.id)).toMatchObject({ closed: 2, balance: 0 });
  });

  test("frees name and key", async () => {
    await remove(team.id);
    expect(await claims(team)).toEqual([null, null]);
    const again = await tree.born(owner.id, "team-blue", 2);
    expect(again.id).not.toBe(team.id);
  });

  describe("whose claims are made once more by writes that were under way for long", () => {
    /** What it has left for later than an answer takes. */
    async function later(): Promise<() => void> {
      const due: (() => void)[] = [];
      const after = (ms: number, fn: () => void) => {
        if (ms < 60_000) return tree.clock.after(ms, fn);
        due.push(fn);
        return () => {};
      };
      const clock = { ...tree.clock, after };
      await deleteAccount({ ...tree, clock }, { account: team.id, by: owner.id, recursive: false });
      return () => {
        for (const run of due) run();
      };
    }
    const late = async (account: AccountId) => {
      for (const key of [`name:${team.name}`, `key:${team.keyHash}`]) {
        await tree.store.claim(key, account, "late", tree.clock.wall());
        await tree.store.confirm(key, "late");
      }
    };

    test("lets go of them a minute later", async () => {
      const run = await later();
      await late(team.id);
      run();
      await sleep(tree.clock, 20);
      expect(await claims(team)).toEqual([null, null]);
    });

    test("but not of those of another account", async () => {
      const run = await later();
      await late(owner.id);
      run();
      await sleep(tree.clock, 20);
      expect(await claims(team)).toEqual([owner.id, owner.id]);
    });
  });

  test("leaves the ledger where it was", async () => {
    await remove(team.id);
    expect((await tree.store.lastCommit(`account/${team.id}`))?.linesTo).toBe(3);
    expect((await tree.system.ask(actorRef.account(team.id), "profile", {})).profile.dna).toBe(
      `.1.${owner.id}.`,
    );
  });

  test("of what is not there, or is Root, or has subaccounts, is refused", async () => {
    expect(await refusal(remove(99 as AccountId))).toBe("user_not_found");
    expect(await refusal(remove(ROOT, true))).toBe("not_ancestor");
    expect(await refusal(remove(owner.id))).toBe("has_subaccounts");
    await remove(team.id);
    expect(await refusal(remove(team.id))).toBe("user_not_found");
  });

  test("waits for a request in flight, whose charge is then the account's", async () => {
    const id = "in-flight";
    await tree.system.ask(actorRef.account(team.id), "admit", admitInput({ id, keyHash: team.keyHash }));
    const deleted = remove(team.id);
    await tree.clock.after(300, () => {
      void tree.system.ask(actorRef.account(team.id), "charge", factsOf({ id, cost: usd(1) }), { id });
    });
    expect(await deleted).toMatchObject({ refunded: usd(18.8) });
  });

  test("waits no longer than 35 s, and what comes later is a loss", async () => {
    const id = "in-flight";
    await tree.system.ask(actorRef.account(team.id), "admit", admitInput({ id, keyHash: team.keyHash }));
    const deleted = remove(team.id);
    tree.clock.after(300, () => {
      offsetMs += 36_000;
    });
    expect(await deleted).toMatchObject({ refunded: usd(19.8) });
    await tree.system.ask(actorRef.account(team.id), "charge", factsOf({ id, cost: usd(1) }), { id });
    const [commit] = (await tree.store.readCommits(`account/${team.id}`, 0, 99)).slice(-1);
    expect(commit?.events.map(({ e }) => (e as { type: string }).type)).toEqual(["late_charge", "write_off"]);
  });
});

describe("a recursive deletion", () => {
  test("empties the whole subtree bottom-up, and all credit but the fees comes to the top's parent", async () => {
    const deep = await tree.born(team.id, "deep-one", 10);
    const deeper = await tree.born(deep.id, "deeper-one", 5);
    const beside = await tree.born(team.id, "beside", 3);
    expect(await remove(team.id, true)).toMatchObject({ refunded: usd(19.2), fee: usd(0.2) });
    expect(await tree.balance(owner.id)).toBe(usd(99.2));
    for (const one of [deep, deeper, beside, team]) {
      expect(await tree.affairs(one.id)).toMatchObject({ stage: "closed", children: 0, leaving: [] });
      expect(await claims(one)).toEqual([null, null]);
    }
  });

  test("touches nobody beside it, whatever its DNA begins with", async () => {
    const others = await Promise.all(
      Array.from({ length: 30 }, (_, i) => tree.born(owner.id, `other-${i}`, 2)),
    );
    await remove(team.id, true);
    for (const one of others) expect((await tree.affairs(one.id)).stage).toBe("open");
  });
});

/** From this ask on the top is closing: before it only what must fit is looked up. */
const CLOSED_AT = 5;

describe("a deletion that is cut off", () => {
  test("before it closes anybody, has done nothing", async () => {
    for (let nth = 1; nth < CLOSED_AT; nth++) {
      await remove(team.id, true, dyingAt(tree.system, nth)).catch(() => {});
      expect([nth, (await tree.affairs(team.id)).stage]).toEqual([nth, "open"]);
    }
  });

  test("at whatever step, is ended by the sweep", async () => {
    for (let nth = CLOSED_AT; ; nth++) {
      const top = await tree.born(owner.id, `top-${nth}`, 10);
      const child = await tree.born(top.id, `child-${nth}`, 4);
      const before = await tree.balance(owner.id);
      const cut = await remove(top.id, true, dyingAt(tree.system, nth)).then(
        () => false,
        () => true,
      );
      for (let i = 0; i < 100 && (await tree.affairs(top.id)).stage !== "closed"; i++) {
        await sweepDeletions(tree);
        await sleep(tree.clock, 2);
      }
      for (const one of [top, child]) {
        expect([nth, one.name, (await tree.affairs(one.id)).stage]).toEqual([nth, one.name, "closed"]);
        expect(await claims(one)).toEqual([null, null]);
      }
      // The refund came once, whatever was repeated.
      expect((await tree.balance(owner.id)) - before).toBe(usd(9.6));
      if (!cut) break;
      expect(nth).toBeLessThan(60);
    }
  }, 90_000);

  test("of one that cannot be reached keeps no other from its end", async () => {
    const lost = await tree.born(owner.id, "lost-one", 5);
    for (const one of [lost, team])
      await remove(one.id, false, dyingAt(tree.system, CLOSED_AT)).catch(() => {});
    await expect(sweepDeletions({ ...tree, system: without(lost.id) })).rejects.toThrow("lost");
    await sleep(tree.clock, 100);
    await expect(sweepDeletions({ ...tree, system: without(lost.id) })).rejects.toThrow("lost");
    expect((await tree.affairs(team.id)).stage).toBe("closed");
  });

  test("by its deadline, in the middle of a large tree, is answered then", async () => {
    for (let i = 0; i < 40; i++) await tree.born(team.id, `many-${i}`, 0.1);
    let readings = 0;
    const clock = { ...tree.clock, mono: () => tree.clock.mono() + 60_000 * readings++ };
    const deleted = deleteAccount({ ...tree, clock }, { account: team.id, by: owner.id, recursive: true });
    await expect(deleted).rejects.toThrow("its deletion goes on");
    // The top, and the first group of those below it.
    const where = [{ field: "closed", is: "=", value: 1 }] as const;
    expect(await tree.store.count({ table: "accounts", where })).toBe(33);
  });

  test("when nothing is closing, the sweep finds nothing", async () => {
    expect(await sweepDeletions(tree)).toBe(0);
    expect((await tree.affairs(team.id)).stage).toBe("open");
  });
});

test("a claim of an account that cannot be reached keeps no other from its end", async () => {
  const old = tree.clock.wall() - 120_000;
  const lost = await tree.born(owner.id, "lost-one", 5);
  await tree.store.claim("name:of-the-lost", lost.id, "one-creation", old - 1);
  await tree.store.claim("name:of-nobody", 99, "another-creation", old);
  await expect(sweepClaims({ ...tree, system: without(lost.id) })).rejects.toThrow("lost");
  expect(await tree.store.findClaim("name:of-nobody")).toBeNull();
});

test("a claim that a creation left behind goes with the account that was deleted meanwhile", async () => {
  await remove(team.id);
  await tree.store.claim("name:team-blue", team.id, "some-creation", tree.clock.wall() - 120_000);
  expect(await sweepClaims(tree)).toBe(1);
  expect(await claims(team)).toEqual([null, null]);
});
