import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { describe, expect, onTestFinished, test } from "vitest";
import { sessionFilePath } from "../../packages/core/src/claude/session-files/session-file-path.ts";
import {
  preparePrestartOrder,
  prepareRun,
  type RunRequest,
} from "../../packages/core/src/jobs/attempts/prepare-run.ts";
import { currentProcess } from "../../packages/core/src/lib/process-identity.ts";
import { sessionHomeKindOf } from "../../packages/core/src/runner/contract/run-order.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const persistentSession = "session: { mode: persistent }";
const sessionFileRuntime =
  "runtime: { type: cli, stream: session-file }\npermission_mode: bypassPermissions";
const localNode = { node: "n-here", epoch: 1 };

/** A state with one session of the agent and its transcript, and a function that prepares a run. */
async function createPrepareHarness(yaml = persistentSession, node: string | null = null) {
  const folder = tempFolderWith({ "work/README.md": "", "home/note": "" });
  const environment = { HOME: join(folder, "home"), PATH: process.env.PATH ?? "" };
  const cwd = join(folder, "work");
  const agent = agentOf(loadTestFleet(inlineAgent(`working_directory: ${cwd}\n${yaml}`)), "one");
  const state = await new StateManager(join(folder, "state")).open();
  onTestFinished(() => state.close());
  const [sessionId, place] = [randomUUID(), sessionHomeKindOf(agent)];
  await state.sessions.save({
    session_id: sessionId,
    agent: "one",
    session_home: place,
    cwd,
    node,
  });
  const home = { place, cwd, configDir: join(environment.HOME, ".claude") };
  const transcript = sessionFilePath(home, sessionId);
  mkdirSync(dirname(transcript), { recursive: true });
  writeFileSync(transcript, "{}\n");
  const base = { state, agent, environment, claudePath: claudeBinary("325") };
  const prepare = async (job: object = {}, more: Partial<RunRequest> = {}) =>
    prepareRun({
      ...base,
      job: (await state.jobs.create({ agent: "one", prompt: "hello", ...job })).job,
      signal: new AbortController().signal,
      ...more,
    });
  /** Lets another job of this process write to the session. */
  const occupy = async () => {
    const holder = { ...currentProcess(), job_id: "job-other" };
    await state.sessions.lease(sessionId, holder, new Date(Date.now() + 60_000));
    return () => state.sessions.release(sessionId, holder);
  };
  return { base, cwd, sessionId, prepare, occupy };
}

describe("session in use by another run", () => {
  test("forks a session in use with a warning when the run would continue it by default", async () => {
    const { prepare, sessionId, occupy } = await createPrepareHarness();
    await occupy();
    expect(await prepare()).toMatchObject({
      order: { session: { kind: "fork", from: sessionId } },
      warnings: ["the last session was in use, so this run is a fork of it"],
    });
  });

  test("waits for a session in use when the run must resume it", async () => {
    const { prepare, sessionId, occupy } = await createPrepareHarness();
    const free = await occupy();
    const prepared = prepare({ resumed_from: sessionId });
    setTimeout(() => void free(), 300);
    expect(await prepared).toMatchObject({ order: { session: { kind: "resume", sessionId } } });
  });

  test("ends the wait of a cancelled run", async () => {
    const { prepare, sessionId, occupy } = await createPrepareHarness();
    await occupy();
    const prepared = await prepare({ resumed_from: sessionId }, { signal: AbortSignal.abort() });
    expect(prepared).toMatchObject({ kind: "refused", outcome: { code: "session_busy" } });
  });

  test("limits the wait to the run's own time limit", async () => {
    const { prepare, sessionId, occupy } = await createPrepareHarness(
      `${persistentSession}\ntimeouts: { total: 1s }`,
    );
    await occupy();
    const prepared = await prepare({ resumed_from: sessionId });
    expect(prepared).toMatchObject({ kind: "refused", outcome: { code: "session_busy" } });
  });
});

describe("session with files on another node", () => {
  const gone = () => ({ name: "east", isGone: true });
  const there = () => ({ name: "east", isGone: false });
  const moves = `${persistentSession}\nwhen_node_gone: move`;
  const stays = `${persistentSession}\nwhen_node_gone: wait`;

  test.each([
    [
      "starts a fresh session for a run that would continue it by default",
      stays,
      false,
      there,
      "fresh",
    ],
    [
      "starts a fresh session for a resumed one when the node is lost and the agent moves",
      moves,
      true,
      gone,
      "fresh",
    ],
    ["refuses when the agent waits for its node", stays, true, gone, "refused"],
    ["refuses while the node is live", moves, true, there, "refused"],
  ])("%s", async (_, yaml, resumes, nodeOf, expected) => {
    const { prepare, sessionId } = await createPrepareHarness(yaml, "n-east");
    const prepared = await prepare(resumes ? { resumed_from: sessionId } : {}, {
      by: localNode,
      nodeOf,
    });
    if (expected === "fresh") {
      const warnings = [`a new session was started: the session ${sessionId} is on node east`];
      expect(prepared).toMatchObject({ order: { session: { kind: "fresh" } }, warnings });
    } else {
      expect(prepared).toMatchObject({
        kind: "refused",
        outcome: {
          code: "session_missing",
          message: `session ${sessionId} is on node east and can only be resumed there`,
        },
      });
    }
  });

  test("shows the node's id when its name is unknown", async () => {
    const { prepare, sessionId } = await createPrepareHarness(moves, "n-east");
    const prepared = await prepare({ resumed_from: sessionId }, { by: localNode });
    expect(prepared).toMatchObject({
      outcome: { message: expect.stringContaining("on node n-east") },
    });
  });

  test("resumes the session on its own node", async () => {
    const { prepare, sessionId } = await createPrepareHarness(moves, localNode.node);
    const prepared = await prepare({ resumed_from: sessionId }, { by: localNode, nodeOf: gone });
    expect(prepared).toMatchObject({ order: { session: { kind: "resume", sessionId } } });
  });
});

describe("claude process after a turn", () => {
  test.each([
    ["keeps the process of a conversation", "", true],
    [
      "ends a process with a budget, which claude counts over all turns",
      "max_budget_usd: 1",
      false,
    ],
    ["ends a process that is followed by its session file", sessionFileRuntime, false],
    [
      "ends the process of an agent that disables keep-alive",
      "keep_alive: { sessions: 0s }",
      false,
    ],
  ])("%s", async (_, yaml, live) => {
    const { prepare } = await createPrepareHarness(yaml);
    const prepared = await prepare({}, { live: true });
    expect(prepared).toMatchObject({
      order: live ? { keepAlive: true } : expect.not.objectContaining({ keepAlive: true }),
    });
  });
});

describe("cost of earlier attempts of a job", () => {
  /** The second attempt of a job whose first crashed at this cost. */
  async function secondAttempt(cost_usd: number, yaml: string, chain?: object) {
    const { base, prepare } = await createPrepareHarness(yaml);
    const { state } = base;
    const { job } = await state.jobs.create({ agent: "one", prompt: "hello", ...chain });
    await state.jobs.startAttempt(job.id, {});
    const end = { outcome_code: "runtime_crashed" as const, session_id: null, cost_usd };
    const ended = await state.jobs.endAttempt(job.id, 1, end, { status: "waiting" });
    return prepare({}, { job: ended.job });
  }

  test("subtracts it from `max_budget_usd`", async () => {
    const order = {
      agent: { max_budget_usd: 0.75 },
      spend: { limits: [{ key: "max_budget_usd", limit: 1, ceiling: 0.75 }] },
    };
    expect(await secondAttempt(0.25, "max_budget_usd: 1")).toMatchObject({ order });
  });

  test("subtracts it from the rest of the chain", async () => {
    const chain = { id: "a", parent: "a", depth: 1, agents: ["a"], max_usd: 0.5 };
    const prepared = await secondAttempt(0.25, "max_budget_usd: 1", { chain });
    expect(prepared).toMatchObject({ order: { agent: { max_budget_usd: 0.25 } } });
  });

  test("leaves nothing for another attempt", async () => {
    expect(await secondAttempt(1, "max_budget_usd: 1")).toMatchObject({
      kind: "refused",
      outcome: {
        code: "budget_exceeded",
        message: "The spending limit of this job is reached (max_budget_usd: $1).",
      },
    });
  });
});

describe("pre-started claude", () => {
  test("starts with a fresh session in the agent's workspace", async () => {
    const { base, cwd } = await createPrepareHarness("keep_alive: { processes: 1 }");
    expect(await preparePrestartOrder(base, "job-to-come")).toMatchObject({
      ...{ jobId: "job-to-come", attempt: 1, prompt: "", cwd },
      session: { kind: "fresh" },
    });
  });

  test.each([
    ["whose turns cannot be separated", sessionFileRuntime, {}],
    ["without a binary", "", { claudePath: "/nowhere/claude" }],
    ["without a workspace", "working_directory: /nowhere/at/all", {}],
  ])("starts none for an agent %s", async (_, yaml, more) => {
    const { base } = await createPrepareHarness();
    const agent = agentOf(loadTestFleet(inlineAgent(yaml || "model: opus")), "one");
    expect(await preparePrestartOrder({ ...base, agent, ...more }, "job-to-come")).toBeUndefined();
  });
});
