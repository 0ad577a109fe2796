// Rules of the small rows: claims of what must be unique, counters, and compare-and-set rows.

import { describe, expect, test } from "bun:test";
import type { Store } from "../../src/store/store.ts";
import { ODD_TEXTS } from "./store-samples.ts";

export function rowRules(store: () => Store): void {
  describe("claims", () => {
    test("the first claim of a key wins", async () => {
      expect(await store().claim("name:ada", 1, "first", 5)).toBe(true);
      expect(await store().claim("name:ada", 2, "second", 6)).toBe(false);
      expect(await store().findClaim("name:ada")).toEqual({
        key: "name:ada",
        account: 1,
        by: "first",
        at: 5,
        confirmed: false,
      });
    });

    test("of claims made at the same time exactly one wins", async () => {
      const claims = Array.from({ length: 20 }, (_, i) => store().claim("name:ada", i, `command-${i}`, 5));
      expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(1);
    });

    test("the same claimant claims again and again, and changes nothing by it", async () => {
      await store().claim("name:ada", 1, "first", 5);
      await store().confirm("name:ada", "first");
      expect(await store().claim("name:ada", 1, "first", 9)).toBe(true);
      expect(await store().findClaim("name:ada")).toMatchObject({ at: 5, confirmed: true });
    });

    test("keys mind case, and an unknown one is not claimed", async () => {
      await store().claim("name:ada", 1, "first", 5);
      expect(await store().findClaim("name:Ada")).toBeNull();
      expect(await store().claim("name:Ada", 2, "second", 5)).toBe(true);
    });

    test("only its claimant confirms or releases", async () => {
      await store().claim("name:ada", 1, "first", 5);
      await store().confirm("name:ada", "second");
      await store().release("name:ada", "second");
      expect(await store().findClaim("name:ada")).toMatchObject({ by: "first", confirmed: false });
      await store().release("name:ada", "first");
      expect(await store().findClaim("name:ada")).toBeNull();
      expect(await store().claim("name:ada", 2, "second", 6)).toBe(true);
    });

    test("unconfirmed answers old claims that nobody confirmed, the oldest first", async () => {
      await store().claim("name:new", 1, "a", 100);
      await store().claim("name:old", 2, "b", 50);
      await store().claim("name:older", 3, "c", 10);
      await store().claim("name:confirmed", 4, "d", 10);
      await store().confirm("name:confirmed", "d");
      const keys = async (limit: number) => (await store().unconfirmed(100, limit)).map(({ key }) => key);
      expect(await keys(10)).toEqual(["name:older", "name:old"]);
      expect(await keys(1)).toEqual(["name:older"]);
    });

    test("odd text survives", async () => {
      for (const text of ODD_TEXTS) {
        expect(await store().claim(`name:${text}`, 1, text, 5)).toBe(true);
        expect(await store().findClaim(`name:${text}`)).toMatchObject({ key: `name:${text}`, by: text });
      }
      expect(await store().unconfirmed(100, 100)).toHaveLength(ODD_TEXTS.length);
    });
  });

  describe("counters", () => {
    test("the first number is 1, and each counter counts for itself", async () => {
      expect(await store().reserveIds("accounts", 20)).toBe(1);
      expect(await store().reserveIds("accounts", 1)).toBe(21);
      expect(await store().reserveIds("accounts", 20)).toBe(22);
      expect(await store().reserveIds("news", 5)).toBe(1);
    });

    test("blocks taken at the same time never overlap", async () => {
      const sizes = Array.from({ length: 30 }, (_, i) => 1 + (i % 7));
      const firsts = await Promise.all(sizes.map((size) => store().reserveIds("accounts", size)));
      const taken = firsts.flatMap((first, i) => Array.from({ length: sizes[i]! }, (_, k) => first + k));
      expect(new Set(taken).size).toBe(taken.length);
    });

    test("a block of no numbers is refused", async () => {
      await expect(store().reserveIds("accounts", 0)).rejects.toThrow();
      await expect(store().reserveIds("accounts", 1.5)).rejects.toThrow();
    });
  });

  describe("compare-and-set rows", () => {
    test("rev 0 creates, and only once", async () => {
      expect(await store().read("table")).toBeNull();
      expect(await store().cas("table", 0, "a")).toBe(1);
      expect(await store().cas("table", 0, "b")).toBeNull();
      expect(await store().read("table")).toEqual({ value: "a", rev: 1 });
    });

    test("the current rev updates and is raised; any other is refused", async () => {
      await store().cas("table", 0, "a");
      expect(await store().cas("table", 1, "b")).toBe(2);
      expect(await store().cas("table", 1, "c")).toBeNull();
      expect(await store().cas("table", 3, "c")).toBeNull();
      expect(await store().read("table")).toEqual({ value: "b", rev: 2 });
    });

    test("an update of a row that is not there is refused", async () => {
      expect(await store().cas("table", 1, "a")).toBeNull();
      expect(await store().read("table")).toBeNull();
    });

    test("of writers at the same rev exactly one wins", async () => {
      await store().cas("table", 0, "a");
      const revs = await Promise.all(Array.from({ length: 10 }, (_, i) => store().cas("table", 1, `v${i}`)));
      expect(revs.filter((rev) => rev !== null)).toEqual([2]);
    });

    test("odd text survives", async () => {
      for (const text of ODD_TEXTS) {
        await store().cas(`row ${text}`, 0, text);
        expect(await store().read(`row ${text}`)).toEqual({ value: text, rev: 1 });
      }
    });
  });
}
