// Moves by Root, credit that administration moves, and what their callers hear.

import { describe, expect, test } from "bun:test";
import { type AccountId, ROOT } from "../../actors/ids.ts";
import { type Nano, ZERO } from "../../actors/money.ts";
import { deleteAccount } from "../../src/admin/delete-account.ts";
import { moveAccount } from "../../src/admin/move-account.ts";
import { recharge, refund } from "../../src/admin/transfer-credit.ts";
import { usd } from "../actors/account-samples.ts";
import { preparedEach } from "../e2e/prepared-each.ts";
import { type Born, memoryTree, refusal } from "./tree.ts";

const tree = preparedEach(() => memoryTree());
const owner = preparedEach(() => tree.born(ROOT, "acme", 100));
const team = preparedEach(() => tree.born(owner.id, "team-blue", 20));
const other = preparedEach(() => tree.born(owner.id, "team-green", 10));

const minted = () => ({ id: tree.random.id(), bornAt: tree.clock.wall() });
const move = (account: Born, parent: AccountId, dna: string | null = null) =>
  moveAccount(tree, { ...minted(), account: account.id, parent, dna, by: ROOT });

describe("a move", () => {
  test("is answered when both parents count anew, and the lists show it", async () => {
    await move(team, other.id);
    expect(await tree.document(owner.id)).toMatchObject({ children: 1 });
    expect(await tree.document(other.id)).toMatchObject({ children: 1 });
    expect(await tree.document(team.id)).toMatchObject({
      parent: other.id,
      dna: `.1.${owner.id}.${other.id}.`,
    });
    expect(await tree.balance(team.id)).toBe(usd(20));
  });

  test("and back again", async () => {
    await move(team, other.id);
    await move(team, owner.id);
    expect([(await tree.affairs(owner.id)).children, (await tree.affairs(other.id)).children]).toEqual([
      2, 0,
    ]);
  });
});

describe("a recharge", () => {
  const give = (from: AccountId, child: Born, dollars: number, mint = minted()) =>
    recharge(tree, { ...mint, from, to: child.id, amount: usd(dollars), days: 30, keep: ZERO });

  test("is answered when the credit is there", async () => {
    await give(owner.id, team, 5);
    expect(await tree.document(team.id)).toMatchObject({ balance: usd(25), chargeAmount: usd(25) });
    expect(await tree.balance(owner.id)).toBe(usd(65));
  });

  test("repeated with the same id moves once", async () => {
    const mint = minted();
    for (let i = 0; i < 3; i++) await give(owner.id, team, 5, mint);
    expect(await tree.balance(team.id)).toBe(usd(25));
  });

  test("that the parent cannot spare, or whose child is gone, is refused and moves nothing", async () => {
    expect(await refusal(give(owner.id, team, 71))).toBe("insufficient_parent_balance");
    await deleteAccount(tree, { account: team.id, by: ROOT, recursive: false });
    const before = await tree.balance(owner.id);
    expect(await refusal(give(owner.id, team, 1))).toBe("user_not_found");
    expect(await tree.balance(owner.id)).toBe(before);
  });
});

describe("a refund", () => {
  const back = (from: Born, amount: Nano) => refund(tree, { ...minted(), from: from.id, amount });

  test("is answered when the parent has it", async () => {
    await back(team, usd(4));
    expect(await tree.document(owner.id)).toMatchObject({ balance: usd(74) });
    expect(await tree.balance(team.id)).toBe(usd(16));
  });

  test("repeated after a move is still with the parent that got it", async () => {
    const mint = minted();
    const order = { ...mint, from: team.id, amount: usd(4) };
    await refund(tree, order);
    await move(team, other.id);
    expect(await refusal(refund(tree, order))).toBeNull();
    expect(await tree.balance(team.id)).toBe(usd(16));
  });

  test("to Root ceases to be", async () => {
    await back(owner, usd(30));
    expect(await tree.balance(owner.id)).toBe(usd(40));
    expect(await tree.balance(ROOT)).toBe(ZERO);
  });
});
