import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ClaimLimits, claim, nextDue } from "../../packages/core/src/jobs/dispatch/claim.ts";
import type { UnfinishedJob } from "../../packages/protocol/src/records/job.ts";
import { liveJob, noon, secondsAfterNoon } from "./job-fixture.ts";

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

/** `writer:pending` is one job of that agent; ids are numbers in order of age. */
function jobs(...texts: string[]): UnfinishedJob[] {
  return texts.map((text, index) => {
    const [agent = "", status = "pending", priority = "0", due] = text.split(":");
    return liveJob(String(index), {
      agent,
      status: status as UnfinishedJob["status"],
      priority: Number(priority),
      created_at: secondsAfterNoon(index - 100).toISOString(),
      due_at: due === undefined ? null : secondsAfterNoon(Number(due)).toISOString(),
    });
  });
}

describe("jobs that start now", () => {
  const cases: [what: string, jobs: string[], change: Partial<ClaimLimits>, claimed: string][] = [
    ["starts all jobs of an idle fleet, oldest first", ["coder", "coder", "coder"], {}, "0 1 2"],
    ["starts no job that is already running", ["coder:running", "coder"], {}, "1"],
    [
      "starts a waiting job whose time has come, and no other",
      ["coder:waiting:0:0", "coder:waiting:0:1"],
      {},
      "0",
    ],
    [
      "starts a pending job with a due time when it has come",
      ["coder:pending:0:9", "coder"],
      {},
      "1",
    ],
    [
      "counts a job that waits for a person as running",
      ["coder:waiting", "writer"],
      { fleet: 1 },
      "",
    ],
    ["prefers priority to age", ["coder", "coder:pending:5", "coder:pending:-5"], {}, "1 0 2"],
    [
      "prefers priority to fairness",
      ["writer", "coder:running", "coder:pending:1"],
      { fleet: 2 },
      "2",
    ],
    ["alternates between agents", ["coder", "coder", "coder", "writer", "tester"], {}, "0 3 4 1 2"],
    ["prefers the agent with fewest running jobs", ["coder:running", "coder", "writer"], {}, "2 1"],
    [
      "prefers the agent served least recently among equals",
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
      "respects the fleet's limit",
      ["coder:running", "coder", "writer", "tester"],
      { fleet: 3 },
      "2 3",
    ],
    [
      "starts nothing when more jobs run than the fleet allows",
      ["coder:running", "coder:running", "writer"],
      { fleet: 1 },
      "",
    ],
    [
      "respects the agent's limit",
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
      "skips an agent at its limit without blocking others",
      ["coder:running", "coder:pending:9", "writer"],
      {
        agents: new Map([
          ["coder", 1],
          ["writer", 1],
        ]),
      },
      "2",
    ],
    ["starts no job of a paused agent", ["coder", "writer"], { paused: new Set(["coder"]) }, "1"],
    ["starts no job of a removed agent", ["gone", "writer"], {}, "1"],
    ["counts running jobs of a removed agent", ["gone:running", "writer"], { fleet: 1 }, ""],
    [
      "starts nothing while the fleet is slowed down",
      ["coder"],
      { notBefore: secondsAfterNoon(1) },
      "",
    ],
    ["starts everything once the slow-down is over", ["coder"], { notBefore: noon }, "0"],
    ["starts nothing from an empty queue", [], {}, ""],
  ];
  test.each(cases)("%s", (_, given, change, expected) => {
    expect(claim(jobs(...given), { ...limits, ...change }, noon).join(" ")).toBe(expected);
  });

  test("limits a fleet without a setting to ten concurrent jobs", () => {
    const many = jobs(...Array.from({ length: 30 }, () => "coder"));
    expect(claim(many, { ...limits, fleet: undefined }, noon)).toHaveLength(10);
  });
});

describe("time of the next check", () => {
  const cases: [
    what: string,
    jobs: string[],
    notBefore: Date | undefined,
    seconds: number | undefined,
  ][] = [
    [
      "schedules no check when no job waits for a time",
      ["coder:running", "coder", "coder:waiting"],
      undefined,
      undefined,
    ],
    [
      "schedules a check for the earliest due time",
      ["coder:waiting:0:9", "writer:waiting:0:5"],
      undefined,
      5,
    ],
    [
      "schedules no check for jobs that are already due",
      ["coder:waiting:0:-9"],
      undefined,
      undefined,
    ],
    [
      "schedules a check for the end of a slow-down",
      ["coder", "coder:waiting:0:3"],
      secondsAfterNoon(4),
      4,
    ],
    [
      "schedules no check for a slow-down without a pending job",
      ["coder:running"],
      secondsAfterNoon(4),
      undefined,
    ],
  ];
  test.each(cases)("%s", (_, given, notBefore, seconds) => {
    const expected = seconds === undefined ? undefined : secondsAfterNoon(seconds);
    expect(nextDue(jobs(...given), { notBefore }, noon)).toEqual(expected);
  });
});

describe("any queue", () => {
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
          created_at: secondsAfterNoon(-age).toISOString(),
          due_at: due === null ? null : secondsAfterNoon(due).toISOString(),
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
  const always = (
    check: (queue: UnfinishedJob[], given: ClaimLimits, claimed: UnfinishedJob[]) => void,
  ) =>
    fc.assert(
      fc.property(anyQueue, anyLimits, (queue, given) => {
        const ids = claim(queue, given, noon);
        const claimed = ids.flatMap((id) => queue.filter((job) => job.id === id));
        expect(claimed).toHaveLength(ids.length);
        check(queue, given, claimed);
      }),
      { numRuns: 500 },
    );
  const isBusy = ({ status, due_at }: UnfinishedJob) =>
    status === "running" || (status === "waiting" && due_at === null);
  const countOf = (list: UnfinishedJob[], agent: string) =>
    list.filter((job) => job.agent === agent).length;

  test("claims only jobs that may start, each once", () => {
    always((_queue, given, claimed) => {
      expect(new Set(claimed).size).toBe(claimed.length);
      for (const job of claimed) {
        expect(isBusy(job)).toBe(false);
        expect(Date.parse(job.due_at ?? "1970-01-01")).toBeLessThanOrEqual(noon.getTime());
        expect(given.agents.has(job.agent) && !given.paused.has(job.agent)).toBe(true);
      }
    });
  });

  test("exceeds no limit", () => {
    always((queue, given, claimed) => {
      if (claimed.length === 0) return;
      const busy = [...queue.filter(isBusy), ...claimed];
      expect(busy.length).toBeLessThanOrEqual(given.fleet ?? 10);
      for (const [agent, most] of given.agents) {
        if (countOf(claimed, agent) > 0) expect(countOf(busy, agent)).toBeLessThanOrEqual(most);
      }
    });
  });

  test("leaves nothing that could start, and starts nothing of lower rank instead", () => {
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

  test("gives the same answer for the same queue and does not change it", () => {
    always((queue, given, claimed) => {
      const before = structuredClone(queue);
      expect(claim(queue, given, noon)).toEqual(claimed.map((job) => job.id));
      expect(queue).toEqual(before);
    });
  });

  test("orders jobs of one agent and priority by age", () => {
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

describe("one agent with endless jobs", () => {
  const flood = "agent-0";

  /** The agents whose jobs started, in order, until all jobs of the others have started. */
  function starts(fleet: number, agentCount: number, each: number, ends: () => boolean): string[] {
    const names = Array.from({ length: agentCount }, (_, index) => `agent-${index}`);
    const servedAt = new Map<string, number>();
    const agents = new Map(names.map((name) => [name, 100]));
    const started: string[] = [];
    let queue = names.flatMap((agent) =>
      Array.from({ length: each }, (_, n) => liveJob(`${agent}/${n}`, { agent })),
    );
    const isLeft = (job: UnfinishedJob) => job.agent !== flood && job.status === "pending";
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

  test("starts all jobs of every other agent, however long the runs take", () => {
    fc.assert(
      fc.property(...anyFleet, fc.infiniteStream(fc.nat(3)), (fleet, agentCount, each, dice) => {
        const started = starts(fleet, agentCount, each, () => dice.next().value === 0);
        expect(started.filter((agent) => agent !== flood)).toHaveLength((agentCount - 1) * each);
      }),
    );
  });

  test("gets only its share when all runs take the same time", () => {
    fc.assert(
      fc.property(...anyFleet, (fleet, agentCount, each) => {
        const started = starts(fleet, agentCount, each, () => true);
        const ofFlood = started.filter((agent) => agent === flood).length;
        expect(ofFlood).toBeLessThanOrEqual(each + fleet);
      }),
    );
  });
});

test("sorts 100 agents with 100 jobs each in milliseconds", () => {
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

describe("jobs with equal claims", () => {
  const ids = (snapshot: UnfinishedJob[], change: Partial<ClaimLimits> = {}) =>
    claim(snapshot, { ...limits, ...change }, noon).join(" ");
  const simultaneous = (...texts: string[]) =>
    jobs(...texts).map((job) => ({ ...job, created_at: noon.toISOString() }));

  test("start the older one first, whichever agent comes first in the configuration", () => {
    expect(ids(jobs("writer", "coder"))).toBe("0 1");
  });

  test("keep their order if they are as old as each other", () => {
    expect(ids(simultaneous("coder", "coder", "coder"))).toBe("0 1 2");
    expect(ids(simultaneous("tester", "writer", "coder"))).toBe("2 1 0");
  });

  test("go to the agent that was served least recently, also during one claim", () => {
    const servedAt = new Map([
      ["coder", 5],
      ["writer", 3],
      ["tester", 4],
    ]);
    const snapshot = jobs("coder", "coder", "writer", "writer", "tester:running", "tester");
    expect(ids(snapshot, { servedAt })).toBe("2 0 5 3 1");
  });
});

test("does not start a job without a place, which does not hold back others", () => {
  const snapshot = jobs("coder", "coder", "writer");
  expect(claim(snapshot, { ...limits, fleet: 2 }, noon, ({ id }) => id !== "0")).toEqual([
    "1",
    "2",
  ]);
});

test("keeps a slot for a job that is assigned to a node", () => {
  const assigned = { node: "one", epoch: 1, at: noon.toISOString() };
  const snapshot = [
    liveJob("0", { agent: "tester", assigned }),
    ...jobs("coder", "writer").slice(1),
  ];
  expect(claim(snapshot, { ...limits, fleet: 2 }, noon)).toEqual(["1"]);
});

test("frees the fleet's slot of a job that waits for another agent, but not its agent's", () => {
  const asking = liveJob("asking", { status: "waiting", waits_for: ["1"] });
  const snapshot = [asking, ...jobs("coder", "writer")];
  const agents = new Map([
    ["coder", 1],
    ["writer", 1],
  ]);
  expect(claim(snapshot, { ...limits, agents, fleet: 1 }, noon)).toEqual(["1"]);
});

test("names the time at which a claim may next have a result", () => {
  const soon = secondsAfterNoon(5);
  expect(nextDue(jobs("coder"), {}, noon)).toBeUndefined();
  expect(nextDue(jobs("coder"), { notBefore: soon }, noon)).toEqual(soon);
  expect(nextDue(jobs("coder:pending:0:0"), {}, noon)).toBeUndefined();
  expect(nextDue(jobs("coder:pending:0:9", "coder:pending:0:5"), {}, noon)).toEqual(soon);
  expect(nextDue(jobs("coder:pending:0:1"), { notBefore: soon }, noon)).toEqual(soon);
  expect(nextDue(jobs("coder:running"), { notBefore: soon }, noon)).toBeUndefined();
});
