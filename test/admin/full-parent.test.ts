// Credit that does not fit where it goes: refused before anything moves, with the account and the bound named; and where the
// receiver fills up in between, it waits or comes back, and nothing is sent to and fro.

import { describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { actorRef } from "../../actors/index.ts";
import { minus, plus, ZERO } from "../../actors/money.ts";
import { deleteAccount, sweepDeletions } from "../../src/admin/delete-account.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { RefusedError } from "../../src/base/errors.ts";
import { usd } from "../actors/account-samples.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { memoryTree, refusal, type Tree } from "./tree.ts";

/** What the highest balance, 9,007,199.254740991 USD, leaves beside 9,000,000 USD. */
const LEFT = 7_199.254740991;

let minted = 0;
const tree = preparedEach(() => memoryTree());
const owner = preparedEach(() => tree.born(ROOT, "acme", 20_000));
const team = preparedEach(() => tree.born(owner.id, "team-blue", 8_000));

const order = (dollars: number) => ({
  ...{ id: `order-${++minted}`, bornAt: tree.clock.wall(), amount: usd(dollars), days: 180, keep: ZERO },
});
const grant = (account: AccountId, dollars: number) =>
  recharge(tree, { ...order(dollars), from: ROOT, to: account });
const takeBack = (account: AccountId, dollars: number) => refund(tree, { ...order(dollars), from: account });
const remove = (account: AccountId, recursive = false, parts = tree) =>
  deleteAccount(parts, { account, by: ROOT, recursive });

/** So much is left beside what the owner has. */
const fill = async (left: number) => {
  const balance = Number(await tree.balance(owner.id)) / 1e9;
  await grant(owner.id, 9_000_000 - balance + LEFT - left);
};

const events = async (account: AccountId) =>
  (await tree.store.readCommits(`account/${account}`, 0, 1_000)).length;

/** The refusal's message, where it is invalid_parameter and nothing was written to these accounts. */
async function nothingMoved(work: () => Promise<unknown>, ...accounts: AccountId[]): Promise<string> {
  const before = await Promise.all(accounts.map(events));
  const error = await work().then(
    () => null,
    (failed) => failed,
  );
  expect(error).toBeInstanceOf(RefusedError);
  const { code, message } = (error as RefusedError).refusal;
  expect([code, await Promise.all(accounts.map(events))]).toEqual(["invalid_parameter", before]);
  return message;
}

describe("what does not fit is refused before anything moves", () => {
  test("a deletion", async () => {
    await fill(7_999);
    const message = await nothingMoved(() => remove(team.id), owner.id, team.id);
    expect(message).toContain(
      `Account ${owner.id} cannot take 7999.8 USD: a balance is at most 9007199.254740991 USD`,
    );
    await takeBack(owner.id, 0.8);
    expect(await remove(team.id)).toMatchObject({ refunded: usd(7_999.8) });
    expect((await tree.affairs(owner.id)).owes).toEqual([]);
  });

  test("a deletion of a subtree, by the sum of it", async () => {
    const deep = await tree.born(team.id, "deep", 3_000);
    const deeper = await tree.born(deep.id, "deeper", 1_000);
    await fill(7_999.3);
    const all = [owner, team, deep, deeper].map(({ id }) => id);
    const message = await nothingMoved(() => remove(team.id, true), ...all);
    expect(message).toContain(`Account ${owner.id} cannot take 7999.4 USD`);
    await takeBack(owner.id, 0.1);
    expect(await remove(team.id, true)).toMatchObject({ refunded: usd(7_999.4) });
  });

  test("a deletion of a subtree in which an account on the way cannot hold what comes from below", async () => {
    const deep = await tree.born(team.id, "deep", 1_000);
    for (const { id } of [team, deep]) await grant(id, 6_000_000);
    const message = await nothingMoved(() => remove(owner.id, true), owner.id, team.id, deep.id);
    expect(message).toContain(`Account ${team.id} cannot take`);
  });

  test("but one that has subaccounts is refused for these", async () => {
    await tree.born(team.id, "deep", 3_000);
    await fill(100);
    expect(await refusal(remove(team.id))).toBe("has_subaccounts");
  });

  test("a refund", async () => {
    await fill(4);
    const message = await nothingMoved(() => takeBack(team.id, 4.5), owner.id, team.id);
    expect(message).toContain(`Account ${owner.id} cannot take 4.5 USD`);
    await takeBack(team.id, 4);
  });

  test("a recharge, and its repeat is answered when it was done", async () => {
    await grant(team.id, 8_990_000);
    const message = await nothingMoved(() => grant(team.id, 9_200), ROOT, team.id);
    expect(message).toContain(`Account ${team.id} cannot take 9200 USD`);
    const done = { ...order(9_000), from: ROOT, to: team.id };
    await recharge(tree, done);
    await recharge(tree, done);
    expect(await tree.balance(team.id)).toBe(usd(9_007_000));
  });

  test("nothing is too much for Root", async () => {
    await grant(owner.id, 8_990_000);
    await takeBack(owner.id, 8_990_000);
    await remove(team.id);
    await remove(owner.id);
  });
});

describe("a parent that fills up after the look", () => {
  /** The tree while the owner fills up just before this command, once. */
  function filling(command: string, left: number): Tree {
    let isFull = false;
    const ask = (async (...given: Parameters<Tree["system"]["ask"]>) => {
      if (given[1] === command && !isFull) {
        isFull = true;
        await fill(left);
      }
      return tree.system.ask(...given);
    }) as Tree["system"]["ask"];
    return { ...tree, system: { ...tree.system, ask } };
  }

  /** The deletion goes on where its caller has gone: so many rounds of the sweep. */
  async function swept(rounds: number): Promise<void> {
    for (let i = 0; i < rounds; i++) {
      await sweepDeletions(tree);
      await Bun.sleep(5);
    }
  }

  /** A deletion whose caller is answered that it goes on. */
  const cut = (during: string) => {
    const parts = filling(during, 7_000);
    const mono = () => tree.clock.mono() + (rounds++ > 20 ? 60_000 : 0);
    let rounds = 0;
    return remove(team.id, false, { ...parts, clock: { ...tree.clock, mono } });
  };

  test.each(["close", "settleClosing"])(
    "before %s: the deletion waits until there is room",
    async (during) => {
      await expect(cut(during)).rejects.toThrow("its deletion goes on");
      expect((await tree.affairs(team.id)).stage).toBe("closing");
      const before = await Promise.all([owner.id, team.id].map(events));
      await swept(20);
      // It waits, and nothing is written meanwhile.
      expect(await Promise.all([owner.id, team.id].map(events))).toEqual(before);

      const full = await tree.balance(owner.id);
      await takeBack(owner.id, 1_000);
      await swept(10);
      expect((await tree.affairs(team.id)).stage).toBe("closed");
      expect((await tree.balance(owner.id)) - full).toBe(usd(7_999.8 - 1_000));
    },
  );

  test("before a refund: the account has its credit back", async () => {
    const parts = filling("startRefund", 4);
    const late = refund(parts, { ...order(5), from: team.id });
    expect(await refusal(late)).toBe("invalid_parameter");
    expect(await tree.balance(team.id)).toBe(usd(8_000));
    expect((await tree.affairs(team.id)).owes).toEqual([]);
  });

  test("before a refund, twice: repeated when there is room it arrives, once", async () => {
    const again = { ...order(5), from: team.id };
    for (const command of ["startRefund", "startRefund"]) {
      expect(await refusal(refund(filling(command, 4), again))).toBe("invalid_parameter");
      await takeBack(owner.id, 1_000);
    }
    const [from, to] = [await tree.balance(team.id), await tree.balance(owner.id)];
    for (let i = 0; i < 2; i++) await refund(tree, again);
    expect(await tree.balance(team.id)).toBe(minus(from, usd(5)));
    expect(await tree.balance(owner.id)).toBe(plus(to, usd(5)));
  });
});

test("a child that fills up after the look: the same recharge arrives once when there is room, from parent and Root", async () => {
  await grant(team.id, 8_000_000);
  for (const from of [owner.id, ROOT]) {
    await grant(owner.id, 5_000);
    const again = { ...order(3), from, to: team.id };
    let isFull = false;
    const ask = (async (...given: Parameters<Tree["system"]["ask"]>) => {
      if (given[1] === "startTransfer" && !isFull) {
        isFull = true;
        const { room } = await tree.system.ask(actorRef.account(team.id), "margins", {});
        await grant(team.id, Number(room) / 1e9 - 1);
      }
      return tree.system.ask(...given);
    }) as Tree["system"]["ask"];
    const full = { ...tree, system: { ...tree.system, ask } };
    expect(await refusal(recharge(full, again))).toBe("invalid_parameter");
    await takeBack(team.id, 1_000);
    const [had, gave] = [await tree.balance(team.id), await tree.balance(owner.id)];
    for (let i = 0; i < 2; i++) await recharge(tree, again);
    expect(await tree.balance(team.id)).toBe(plus(had, usd(3)));
    expect(await tree.balance(owner.id)).toBe(from === ROOT ? gave : minus(gave, usd(3)));
  }
});
