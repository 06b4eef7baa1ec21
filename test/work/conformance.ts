import { expect, test } from "vitest";
import type { Claim, Claimant, WorkSource } from "../../packages/core/src/work/work-source.ts";

/** A place with items, as the suite needs to look at it from outside. */
export interface WorkPlace {
  /** A new source on the same place, as another fleet would open it. */
  source(): WorkSource;
  add(title: string): string;
  /** What people see of an item. */
  seen(item: string): { isOpen: boolean; isAnnounced: boolean; isSetAside: boolean; words: string };
  /** Lets claims that are not renewed become stale. */
  letTimePass(): void;
}

const who = (claimId: string, agent = "coder"): Claimant => ({ claimId, agent, fleet: "test" });
const known = (item: string, claimant: Claimant, handle: string | null = null): Claim => ({
  ...claimant,
  item,
  handle,
});

/** What every work source has to keep, whatever lies behind it. */
export function workSourceConforms(open: () => Promise<WorkPlace>): void {
  test("finds what is open, the oldest first, and no more than asked for", async () => {
    const place = await open();
    for (const title of ["first", "second", "third"]) place.add(title);
    const found = await place.source().find(2);
    expect(found.map(({ title }) => title)).toEqual(["first", "second"]);
  });

  test("one of many who claim the same item gets it", async () => {
    const place = await open();
    const item = place.add("wanted");
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => place.source().claim(item, who(`claim-${index}`))),
    );
    expect(answers.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "taken")).toHaveLength(7);
  });

  test("the same claim made again is the same claim", async () => {
    const place = await open();
    const item = place.add("once");
    expect((await place.source().claim(item, who("a"))).kind).toBe("claimed");
    expect((await place.source().claim(item, who("a"))).kind).toBe("claimed");
    await place.source().announce(known(item, who("a")));
    expect((await place.source().claim(item, who("a"))).kind).toBe("claimed");
    expect((await place.source().claim(item, who("b"))).kind).toBe("taken");
  });

  test("what is announced is seen, found by nobody, and told once", async () => {
    const place = await open();
    const item = place.add("shown");
    const source = place.source();
    await source.claim(item, who("a"));
    expect(place.seen(item).isAnnounced).toBe(false);
    await source.announce(known(item, who("a")));
    await source.announce(known(item, who("a")));
    expect(place.seen(item).isAnnounced).toBe(true);
    expect(place.seen(item).words.match(/works on this/g)).toHaveLength(1);
    expect(await source.find(5)).toEqual([]);
  });

  test("what is completed is done for all, and told once with its summary", async () => {
    const place = await open();
    const item = place.add("to do");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.announce(known(item, who("a")));
    const result = { jobId: "job-1", summary: "All is well, @everyone.", costUsd: 0.12 };
    expect(await source.complete(known(item, who("a")), result)).toBe("done");
    expect(await source.complete(known(item, who("a")), result)).toBe("done");
    const { words, isAnnounced } = place.seen(item);
    expect(words.match(/All is well/g)).toHaveLength(1);
    expect(words).not.toContain("@everyone");
    expect(isAnnounced).toBe(false);
    expect(await place.source().find(5)).toEqual([]);
    expect((await place.source().claim(item, who("b"))).kind).toBe("gone");
  });

  test("what is released can be claimed again, and by an old name too", async () => {
    const place = await open();
    const item = place.add("hard");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.announce(known(item, who("a")));
    const release = { why: "It did not work.", setAside: false };
    expect(await source.release(known(item, who("a")), release)).toBe("done");
    expect(await source.release(known(item, who("a")), release)).toBe("done");
    expect(place.seen(item).words.match(/did not work/g)).toHaveLength(1);
    expect((await source.find(5)).map(({ id }) => id)).toEqual([item]);
    expect((await place.source().claim(item, who("b"))).kind).toBe("claimed");
    expect(await source.release(known(item, who("a")), release)).toBe("lost");
    expect((await place.source().claim(item, who("c"))).kind).toBe("taken");
  });

  test("what is set aside waits for a person", async () => {
    const place = await open();
    const item = place.add("impossible");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.announce(known(item, who("a")));
    await source.release(known(item, who("a")), { why: "Three times.", setAside: true });
    expect(place.seen(item)).toMatchObject({ isOpen: true, isSetAside: true, isAnnounced: false });
    expect(await source.find(5)).toEqual([]);
  });

  test("a claim that was never told of is released without a word", async () => {
    const place = await open();
    const item = place.add("quiet");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.release(known(item, who("a")), { why: null, setAside: false });
    expect(place.seen(item).words).toBe("");
    expect((await source.claim(item, who("b"))).kind).toBe("claimed");
  });

  test("a claim that was never made is lost and changes nothing", async () => {
    const place = await open();
    const item = place.add("untouched");
    const claim = known(item, who("never"));
    const result = { jobId: "job-1", summary: "", costUsd: null };
    expect(await place.source().release(claim, { why: "x", setAside: true })).toBe("lost");
    expect(await place.source().complete(claim, result)).toBe("lost");
    expect(await place.source().renew(claim)).toEqual({ kind: "lost" });
    expect(place.seen(item)).toMatchObject({ isOpen: true, isAnnounced: false, words: "" });
  });

  test("a claim that nobody renews is freed once, and its old holder has lost it", async () => {
    const place = await open();
    const item = place.add("forgotten");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.announce(known(item, who("a")));
    expect(await source.stale()).toEqual([]);
    place.letTimePass();
    const freed = await Promise.all([1, 2, 3].map(() => place.source().stale()));
    expect(freed.flat()).toEqual([item]);
    expect((await place.source().claim(item, who("b"))).kind).toBe("claimed");
    const result = { jobId: "job-1", summary: "late", costUsd: null };
    expect(await source.complete(known(item, who("a")), result)).toBe("lost");
    expect(place.seen(item)).toMatchObject({ isOpen: true });
    expect(place.seen(item).words).not.toContain("late");
  });

  test("a claim that is renewed stays", async () => {
    const place = await open();
    const item = place.add("long");
    const source = place.source();
    await source.claim(item, who("a"));
    await source.announce(known(item, who("a")));
    place.letTimePass();
    expect((await source.renew(known(item, who("a")))).kind).toBe("renewed");
    expect(await place.source().stale()).toEqual([]);
    expect((await place.source().claim(item, who("b"))).kind).toBe("taken");
  });

  test("two claimers and 50 items: each is claimed exactly once", async () => {
    const place = await open();
    const items = Array.from({ length: 50 }, (_, index) => place.add(`item ${index}`));
    const work = async (name: string) => {
      const source = place.source();
      const got: string[] = [];
      for (;;) {
        const [...free] = await source.find(50);
        let claimed = 0;
        for (const { id } of free) {
          const claimant = who(`${name}-${id}`, name);
          if ((await source.claim(id, claimant)).kind !== "claimed") continue;
          claimed += 1;
          got.push(id);
          await source.announce(known(id, claimant));
        }
        if (claimed === 0) return got;
      }
    };
    const [one = [], other = []] = await Promise.all([work("one"), work("other")]);
    expect([...one, ...other].sort()).toEqual([...items].sort());
    expect(one.length).toBeGreaterThan(0);
    expect(other.length).toBeGreaterThan(0);
  });
}
