import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClaimLimits, claim, nextDue } from "../../packages/core/src/queue/claim.ts";
import type { LiveJob } from "../../packages/core/src/state/job.ts";
import { at, liveJob, noon } from "./live-job.ts";

const limits: ClaimLimits = {
  fleet: 100,
  agents: new Map([
    ["coder", 100],
    ["writer", 100],
    ["tester", 100],
  ]),
  paused: new Set(),
  servedAt: new Map(),
};

/** `writer:pending` is one job of that agent; the numbers are their ids, in order of age. */
function jobs(...texts: string[]): LiveJob[] {
  return texts.map((text, index) => {
    const [agent = "", status = "pending", priority = "0", due] = text.split(":");
    return liveJob(String(index), {
      agent,
      status: status as LiveJob["status"],
      priority: Number(priority),
      created_at: at(index - 100).toISOString(),
      due_at: due === undefined ? null : at(Number(due)).toISOString(),
    });
  });
}

describe("what starts now", () => {
  const cases: [what: string, jobs: string[], change: Partial<ClaimLimits>, claimed: string][] = [
    ["all of a quiet fleet, oldest first", ["coder", "coder", "coder"], {}, "0 1 2"],
    ["nothing that runs already", ["coder:running", "coder"], {}, "1"],
    [
      "what waited until now, what still waits not",
      ["coder:waiting:0:0", "coder:waiting:0:1"],
      {},
      "0",
    ],
    [
      "a pending job with a time of its own, when it has come",
      ["coder:pending:0:9", "coder"],
      {},
      "1",
    ],
    [
      "nothing that waits for a person, and so still runs",
      ["coder:waiting", "writer"],
      { fleet: 1 },
      "",
    ],
    ["priority before age", ["coder", "coder:pending:5", "coder:pending:-5"], {}, "1 0 2"],
    ["priority before fairness", ["writer", "coder:running", "coder:pending:1"], { fleet: 2 }, "2"],
    ["agents by turns", ["coder", "coder", "coder", "writer", "tester"], {}, "0 3 4 1 2"],
    ["the agent with fewest running first", ["coder:running", "coder", "writer"], {}, "2 1"],
    [
      "of equals the one served least recently",
      ["coder", "writer", "tester"],
      {
        servedAt: new Map([
          ["coder", 2],
          ["writer", 1],
        ]),
      },
      "2 1 0",
    ],
    [
      "no more than the fleet may",
      ["coder:running", "coder", "writer", "tester"],
      { fleet: 3 },
      "2 3",
    ],
    [
      "nothing when more runs than the fleet may",
      ["coder:running", "coder:running", "writer"],
      { fleet: 1 },
      "",
    ],
    [
      "no more than the agent may",
      ["coder", "coder", "writer"],
      {
        agents: new Map([
          ["coder", 1],
          ["writer", 1],
        ]),
      },
      "0 2",
    ],
    [
      "an agent at its limit holds nobody back",
      ["coder:running", "coder:pending:9", "writer"],
      {
        agents: new Map([
          ["coder", 1],
          ["writer", 1],
        ]),
      },
      "2",
    ],
    ["nothing of a paused agent", ["coder", "writer"], { paused: new Set(["coder"]) }, "1"],
    ["nothing of an agent that is gone", ["gone", "writer"], {}, "1"],
    ["what runs of it still counts for the fleet", ["gone:running", "writer"], { fleet: 1 }, ""],
    ["nothing while the fleet is slowed down", ["coder"], { notBefore: at(1) }, ""],
    ["everything once that is over", ["coder"], { notBefore: noon }, "0"],
    ["nothing of nothing", [], {}, ""],
  ];
  test.each(cases)("%s", (_, given, change, expected) => {
    expect(claim(jobs(...given), { ...limits, ...change }, noon).join(" ")).toBe(expected);
  });

  test("ten at once when the fleet does not say how many", () => {
    const many = jobs(...Array.from({ length: 30 }, () => "coder"));
    expect(claim(many, { ...limits, fleet: undefined }, noon)).toHaveLength(10);
  });
});

describe("when to look again", () => {
  const cases: [
    what: string,
    jobs: string[],
    notBefore: Date | undefined,
    seconds: number | undefined,
  ][] = [
    [
      "never by itself when nothing waits for a time",
      ["coder:running", "coder", "coder:waiting"],
      undefined,
      undefined,
    ],
    [
      "at the earliest time that is waited for",
      ["coder:waiting:0:9", "writer:waiting:0:5"],
      undefined,
      5,
    ],
    ["not for what is due already", ["coder:waiting:0:-9"], undefined, undefined],
    ["when the fleet goes on, if it is slowed down", ["coder", "coder:waiting:0:3"], at(4), 4],
    ["not because of a slow-down when there is nothing to do", ["coder:running"], at(4), undefined],
  ];
  test.each(cases)("%s", (_, given, notBefore, seconds) => {
    const expected = seconds === undefined ? undefined : at(seconds);
    expect(nextDue(jobs(...given), { notBefore }, noon)).toEqual(expected);
  });
});

describe("whatever the queue looks like", () => {
  const agents = ["a", "b", "c", "d"];
  const anyJob = fc.record({
    agent: fc.constantFrom(...agents, "gone"),
    status: fc.constantFrom("pending" as const, "running" as const, "waiting" as const),
    priority: fc.integer({ min: -2, max: 2 }),
    age: fc.nat(50),
    due: fc.option(fc.integer({ min: -10, max: 10 })),
  });
  const anyQueue = fc.array(anyJob, { maxLength: 60 }).map((all) =>
    all
      .map(({ age, due, ...rest }, index) =>
        liveJob(`job-${index}`, {
          ...rest,
          created_at: at(-age).toISOString(),
          due_at: due === null ? null : at(due).toISOString(),
        }),
      )
      .sort((a, b) => a.created_at.localeCompare(b.created_at)),
  );
  const anyLimits = fc
    .record({
      fleet: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      perAgent: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 4, maxLength: 4 }),
      paused: fc.subarray(agents),
      served: fc.dictionary(fc.constantFrom(...agents), fc.nat(100)),
    })
    .map(
      ({ fleet, perAgent, paused, served }): ClaimLimits => ({
        fleet,
        agents: new Map(agents.map((agent, index) => [agent, perAgent[index] ?? 1])),
        paused: new Set(paused),
        servedAt: new Map(Object.entries(served)),
      }),
    );
  const always = (check: (queue: LiveJob[], given: ClaimLimits, claimed: LiveJob[]) => void) =>
    fc.assert(
      fc.property(anyQueue, anyLimits, (queue, given) => {
        const ids = claim(queue, given, noon);
        const claimed = ids.flatMap((id) => queue.filter((job) => job.id === id));
        expect(claimed).toHaveLength(ids.length);
        check(queue, given, claimed);
      }),
      { numRuns: 500 },
    );
  const isBusy = ({ status, due_at }: LiveJob) =>
    status === "running" || (status === "waiting" && due_at === null);
  const countOf = (list: LiveJob[], agent: string) =>
    list.filter((job) => job.agent === agent).length;

  test("only jobs that may start are claimed, each once", () => {
    always((_queue, given, claimed) => {
      expect(new Set(claimed).size).toBe(claimed.length);
      for (const job of claimed) {
        expect(isBusy(job)).toBe(false);
        expect(Date.parse(job.due_at ?? "1970-01-01")).toBeLessThanOrEqual(noon.getTime());
        expect(given.agents.has(job.agent) && !given.paused.has(job.agent)).toBe(true);
      }
    });
  });

  test("no limit is passed", () => {
    always((queue, given, claimed) => {
      if (claimed.length === 0) return;
      const busy = [...queue.filter(isBusy), ...claimed];
      expect(busy.length).toBeLessThanOrEqual(given.fleet ?? 10);
      for (const [agent, most] of given.agents) {
        if (countOf(claimed, agent) > 0) expect(countOf(busy, agent)).toBeLessThanOrEqual(most);
      }
    });
  });

  test("nothing that could start is left behind, and nothing lesser goes in its place", () => {
    always((queue, given, claimed) => {
      const busy = [...queue.filter(isBusy), ...claimed];
      const couldStart = queue.filter(
        (job) =>
          !isBusy(job) &&
          !claimed.includes(job) &&
          (job.due_at === null || Date.parse(job.due_at) <= noon.getTime()) &&
          !given.paused.has(job.agent) &&
          countOf(busy, job.agent) < (given.agents.get(job.agent) ?? 0),
      );
      const full = busy.length >= (given.fleet ?? 10);
      if (!full) expect(couldStart).toEqual([]);
      for (const left of couldStart) {
        for (const job of claimed) expect(job.priority).toBeGreaterThanOrEqual(left.priority);
      }
    });
  });

  test("the same queue gives the same answer, and the queue stays as it was", () => {
    always((queue, given, claimed) => {
      const before = structuredClone(queue);
      expect(claim(queue, given, noon)).toEqual(claimed.map((job) => job.id));
      expect(queue).toEqual(before);
    });
  });

  test("among jobs of one agent and priority, age decides", () => {
    always((queue, _given, claimed) => {
      const places = claimed.map((job) => ({ ...job, place: queue.indexOf(job) }));
      for (const [index, one] of places.entries()) {
        for (const later of places.slice(index + 1)) {
          if (one.agent !== later.agent || one.priority !== later.priority) continue;
          expect(one.place).toBeLessThan(later.place);
        }
      }
    });
  });
});

describe("with one agent that never runs out of jobs", () => {
  const flood = "agent-0";

  /** Which agents got a job started, in order, until all jobs of the others have begun. */
  function starts(fleet: number, agentCount: number, each: number, ends: () => boolean): string[] {
    const names = Array.from({ length: agentCount }, (_, index) => `agent-${index}`);
    const servedAt = new Map<string, number>();
    const agents = new Map(names.map((name) => [name, 100]));
    const started: string[] = [];
    let queue = names.flatMap((agent) =>
      Array.from({ length: each }, (_, n) => liveJob(`${agent}/${n}`, { agent })),
    );
    const isLeft = (job: LiveJob) => job.agent !== flood && job.status === "pending";
    for (let round = 0; queue.some(isLeft); round++) {
      expect(round).toBeLessThan(1000);
      queue.unshift(...[1, 2, 3, 4, 5].map((n) => liveJob(`${round}+${n}`, { agent: flood })));
      const ids = claim(queue, { ...limits, fleet, agents, servedAt }, noon);
      for (const agent of ids.flatMap((id) => queue.find((job) => job.id === id)?.agent ?? [])) {
        started.push(agent);
        servedAt.set(agent, started.length);
      }
      const claimed = new Set(ids);
      queue = queue
        .map((job) => (claimed.has(job.id) ? { ...job, status: "running" as const } : job))
        .filter((job) => job.status !== "running" || !ends());
    }
    return started;
  }

  const anyFleet = [
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 2, max: 12 }),
    fc.integer({ min: 1, max: 4 }),
  ] as const;

  test("every other agent gets to the end of its own, however long the runs take", () => {
    fc.assert(
      fc.property(...anyFleet, fc.infiniteStream(fc.nat(3)), (fleet, agentCount, each, dice) => {
        const started = starts(fleet, agentCount, each, () => dice.next().value === 0);
        expect(started.filter((agent) => agent !== flood)).toHaveLength((agentCount - 1) * each);
      }),
    );
  });

  test("it gets no more than its share when all runs take the same time", () => {
    fc.assert(
      fc.property(...anyFleet, (fleet, agentCount, each) => {
        const started = starts(fleet, agentCount, each, () => true);
        const ofFlood = started.filter((agent) => agent === flood).length;
        expect(ofFlood).toBeLessThanOrEqual(each + fleet);
      }),
    );
  });
});

test("100 agents with 100 jobs each are sorted in the blink of an eye", () => {
  const names = Array.from({ length: 100 }, (_, index) => `agent-${index}`);
  const queue = names.flatMap((agent) =>
    Array.from({ length: 100 }, (_, n) => liveJob(`${agent}/${n}`, { agent, priority: n % 3 })),
  );
  const given = { ...limits, fleet: 50, agents: new Map(names.map((name) => [name, 5])) };
  const began = performance.now();
  const claimed = claim(queue, given, noon);
  expect(performance.now() - began).toBeLessThan(200);
  expect(new Set(claimed.map((id) => id.split("/")[0])).size).toBe(50);
});
