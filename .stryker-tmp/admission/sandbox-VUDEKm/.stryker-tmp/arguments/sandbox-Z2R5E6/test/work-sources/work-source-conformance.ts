import { expect, test } from "vitest";
import type { Claimant, SourceClaim } from "../../packages/core/src/jobs/admission/work-item.ts";
import type { WorkSource } from "../../packages/core/src/triggers/work-sources/work-source.ts";

/** A source with items, and its external view. */
export interface WorkSourceHarness {
  /** Opens a new source on the same items, like another fleet. */
  openSource(): WorkSource;
  addItem(title: string): string;
  /** The state of an item as people see it. */
  readItem(item: string): {
    isOpen: boolean;
    isAnnounced: boolean;
    isSetAside: boolean;
    words: string;
  };
  /** Lets claims that are not renewed become stale. */
  expireClaims(): void;
}

const claimantOf = (claimId: string, agent = "coder"): Claimant => ({
  claimId,
  agent,
  fleet: "test",
});
const claimOf = (item: string, claimant: Claimant, handle: string | null = null): SourceClaim => ({
  ...claimant,
  item,
  handle,
});

/** What every work source must do, whatever the platform. */
export function describeWorkSourceConformance(open: () => Promise<WorkSourceHarness>): void {
  test("finds open items, oldest first, up to the limit", async () => {
    const harness = await open();
    for (const title of ["first", "second", "third"]) harness.addItem(title);
    const found = await harness.openSource().listAvailable(2);
    expect(found.map(({ title }) => title)).toEqual(["first", "second"]);
  });

  test("gives an item to one of many concurrent claimers", async () => {
    const harness = await open();
    const item = harness.addItem("wanted");
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        harness.openSource().claim(item, claimantOf(`claim-${index}`)),
      ),
    );
    expect(answers.filter(({ kind }) => kind === "claimed")).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === "taken")).toHaveLength(7);
  });

  test("returns the same claim when it is repeated", async () => {
    const harness = await open();
    const item = harness.addItem("once");
    expect((await harness.openSource().claim(item, claimantOf("a"))).kind).toBe("claimed");
    expect((await harness.openSource().claim(item, claimantOf("a"))).kind).toBe("claimed");
    await harness.openSource().announce(claimOf(item, claimantOf("a")));
    expect((await harness.openSource().claim(item, claimantOf("a"))).kind).toBe("claimed");
    expect((await harness.openSource().claim(item, claimantOf("b"))).kind).toBe("taken");
  });

  test("shows an announced item, hides it from searches and announces it once", async () => {
    const harness = await open();
    const item = harness.addItem("shown");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    expect(harness.readItem(item).isAnnounced).toBe(false);
    await source.announce(claimOf(item, claimantOf("a")));
    await source.announce(claimOf(item, claimantOf("a")));
    expect(harness.readItem(item).isAnnounced).toBe(true);
    expect(harness.readItem(item).words.match(/is working on this/g)).toHaveLength(1);
    expect(await source.listAvailable(5)).toEqual([]);
  });

  test("completes an item for everyone, with one summary", async () => {
    const harness = await open();
    const item = harness.addItem("to do");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.announce(claimOf(item, claimantOf("a")));
    const result = { jobId: "job-1", summary: "All is well, @everyone.", costUsd: 0.12 };
    expect(await source.complete(claimOf(item, claimantOf("a")), result)).toBe("done");
    expect(await source.complete(claimOf(item, claimantOf("a")), result)).toBe("done");
    const { words, isAnnounced } = harness.readItem(item);
    expect(words.match(/All is well/g)).toHaveLength(1);
    expect(words).not.toContain("@everyone");
    expect(isAnnounced).toBe(false);
    expect(await harness.openSource().listAvailable(5)).toEqual([]);
    expect((await harness.openSource().claim(item, claimantOf("b"))).kind).toBe("gone");
  });

  test("lets a released item be claimed again, also under an earlier name", async () => {
    const harness = await open();
    const item = harness.addItem("hard");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.announce(claimOf(item, claimantOf("a")));
    const release = { reason: "It did not work.", needsAttention: false };
    expect(await source.release(claimOf(item, claimantOf("a")), release)).toBe("done");
    expect(await source.release(claimOf(item, claimantOf("a")), release)).toBe("done");
    expect(harness.readItem(item).words.match(/did not work/g)).toHaveLength(1);
    expect((await source.listAvailable(5)).map(({ id }) => id)).toEqual([item]);
    expect((await harness.openSource().claim(item, claimantOf("b"))).kind).toBe("claimed");
    expect(await source.release(claimOf(item, claimantOf("a")), release)).toBe("lost");
    expect((await harness.openSource().claim(item, claimantOf("c"))).kind).toBe("taken");
  });

  test("keeps a blocked item for a person", async () => {
    const harness = await open();
    const item = harness.addItem("impossible");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.announce(claimOf(item, claimantOf("a")));
    await source.release(claimOf(item, claimantOf("a")), {
      reason: "Three times.",
      needsAttention: true,
    });
    expect(harness.readItem(item)).toMatchObject({
      isOpen: true,
      isSetAside: true,
      isAnnounced: false,
    });
    expect(await source.listAvailable(5)).toEqual([]);
  });

  test("releases an unannounced claim without a post", async () => {
    const harness = await open();
    const item = harness.addItem("quiet");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.release(claimOf(item, claimantOf("a")), { reason: null, needsAttention: false });
    expect(harness.readItem(item).words).toBe("");
    expect((await source.claim(item, claimantOf("b"))).kind).toBe("claimed");
  });

  test("reports a claim that was never made as lost and changes nothing", async () => {
    const harness = await open();
    const item = harness.addItem("untouched");
    const claim = claimOf(item, claimantOf("never"));
    const result = { jobId: "job-1", summary: "", costUsd: null };
    expect(await harness.openSource().release(claim, { reason: "x", needsAttention: true })).toBe(
      "lost",
    );
    expect(await harness.openSource().complete(claim, result)).toBe("lost");
    expect(await harness.openSource().renew(claim)).toEqual({ kind: "lost" });
    expect(harness.readItem(item)).toMatchObject({ isOpen: true, isAnnounced: false, words: "" });
  });

  test("frees a stale claim once, and its former holder has lost it", async () => {
    const harness = await open();
    const item = harness.addItem("forgotten");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.announce(claimOf(item, claimantOf("a")));
    expect(await source.releaseStale()).toEqual([]);
    harness.expireClaims();
    const freed = await Promise.all([1, 2, 3].map(() => harness.openSource().releaseStale()));
    expect(freed.flat()).toEqual([item]);
    expect((await harness.openSource().claim(item, claimantOf("b"))).kind).toBe("claimed");
    const result = { jobId: "job-1", summary: "late", costUsd: null };
    expect(await source.complete(claimOf(item, claimantOf("a")), result)).toBe("lost");
    expect(harness.readItem(item)).toMatchObject({ isOpen: true });
    expect(harness.readItem(item).words).not.toContain("late");
  });

  test("keeps a renewed claim", async () => {
    const harness = await open();
    const item = harness.addItem("long");
    const source = harness.openSource();
    await source.claim(item, claimantOf("a"));
    await source.announce(claimOf(item, claimantOf("a")));
    harness.expireClaims();
    expect((await source.renew(claimOf(item, claimantOf("a")))).kind).toBe("renewed");
    expect(await harness.openSource().releaseStale()).toEqual([]);
    expect((await harness.openSource().claim(item, claimantOf("b"))).kind).toBe("taken");
  });

  test("gives each of 50 items to exactly one of two claimers", async () => {
    const harness = await open();
    const items = Array.from({ length: 50 }, (_, index) => harness.addItem(`item ${index}`));
    const work = async (name: string) => {
      const source = harness.openSource();
      const got: string[] = [];
      for (;;) {
        const [...free] = await source.listAvailable(50);
        let claimed = 0;
        for (const { id } of free) {
          const claimant = claimantOf(`${name}-${id}`, name);
          if ((await source.claim(id, claimant)).kind !== "claimed") continue;
          claimed += 1;
          got.push(id);
          await source.announce(claimOf(id, claimant));
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
