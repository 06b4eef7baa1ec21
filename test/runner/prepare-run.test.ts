import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StateManager } from "@herdctl/core";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  prepareRun,
  prepareWarm,
  type RunRequest,
} from "../../packages/core/src/runner/prepare-run.ts";
import { placeOf } from "../../packages/core/src/runner/run-order.ts";
import { sessionFilePath } from "../../packages/core/src/runner/runtime/session-file/path.ts";
import { currentProcess } from "../../packages/core/src/state/process-identity.ts";
import { claudeBinary } from "../support/claude.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";

const lasting = "session: { mode: persistent }";
const fromFile = "runtime: { type: cli, stream: session-file }\npermission_mode: bypassPermissions";
const here = { node: "n-here", epoch: 1 };

/** A state that knows one session of the agent, with its transcript, and how a run is asked for. */
async function site(yaml = lasting, node: string | null = null) {
  const folder = folderWith({ "work/README.md": "", "home/note": "" });
  const environment = { HOME: join(folder, "home"), PATH: process.env.PATH ?? "" };
  const cwd = join(folder, "work");
  const agent = agentOf(load(inlineAgent(`working_directory: ${cwd}\n${yaml}`)), "one");
  const state = await new StateManager(join(folder, "state")).open();
  onTestFinished(() => state.close());
  const [sessionId, place] = [randomUUID(), placeOf(agent)];
  await state.sessions.save({ session_id: sessionId, agent: "one", place, cwd, node });
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
  /** Another job of this very process writes to the session. */
  const occupy = async () => {
    const holder = { ...currentProcess(), job_id: "job-other" };
    await state.sessions.lease(sessionId, holder, new Date(Date.now() + 60_000));
    return () => state.sessions.release(sessionId, holder);
  };
  return { base, cwd, sessionId, prepare, occupy };
}

describe("a session that another run writes to", () => {
  test("is forked by a run that would have gone on with it by itself, and says so", async () => {
    const { prepare, sessionId, occupy } = await site();
    await occupy();
    expect(await prepare()).toMatchObject({
      order: { session: { kind: "fork", from: sessionId } },
      warnings: ["the last session was in use: this run is a fork of it"],
    });
  });

  test("is waited for by a run that was asked to resume it", async () => {
    const { prepare, sessionId, occupy } = await site();
    const free = await occupy();
    const prepared = prepare({ resumed_from: sessionId });
    setTimeout(() => void free(), 300);
    expect(await prepared).toMatchObject({ order: { session: { kind: "resume", sessionId } } });
  });

  test("is not waited for by a run that was cancelled", async () => {
    const { prepare, sessionId, occupy } = await site();
    await occupy();
    const prepared = await prepare({ resumed_from: sessionId }, { signal: AbortSignal.abort() });
    expect(prepared).toMatchObject({ kind: "refused", outcome: { code: "session_busy" } });
  });

  test("is not waited for longer than the run might take", async () => {
    const { prepare, sessionId, occupy } = await site(`${lasting}\ntimeouts: { wall: 1s }`);
    await occupy();
    const prepared = await prepare({ resumed_from: sessionId });
    expect(prepared).toMatchObject({ kind: "refused", outcome: { code: "session_busy" } });
  });
});

describe("a session whose files lie on another node", () => {
  const gone = () => ({ name: "east", isGone: true });
  const there = () => ({ name: "east", isGone: false });
  const moves = `${lasting}\nwhen_node_gone: move`;
  const stays = `${lasting}\nwhen_node_gone: wait`;

  test.each([
    ["a run that goes on by itself begins afresh", stays, false, there, "fresh"],
    [
      "so does one that resumes it, when the node is gone and the agent moves",
      moves,
      true,
      gone,
      "fresh",
    ],
    ["not when the agent waits", stays, true, gone, "refused"],
    ["not while the node is there", moves, true, there, "refused"],
  ])("%s", async (_, yaml, resumes, nodeOf, expected) => {
    const { prepare, sessionId } = await site(yaml, "n-east");
    const prepared = await prepare(resumes ? { resumed_from: sessionId } : {}, {
      by: here,
      nodeOf,
    });
    if (expected === "fresh") {
      const warnings = [`a fresh session was begun: the session ${sessionId} is on node east`];
      expect(prepared).toMatchObject({ order: { session: { kind: "fresh" } }, warnings });
    } else {
      expect(prepared).toMatchObject({
        kind: "refused",
        outcome: {
          code: "session_missing",
          message: `session ${sessionId} is on node east and can only be gone on with there`,
        },
      });
    }
  });

  test("is called by its node's id where nobody knows the name", async () => {
    const { prepare, sessionId } = await site(moves, "n-east");
    const prepared = await prepare({ resumed_from: sessionId }, { by: here });
    expect(prepared).toMatchObject({
      outcome: { message: expect.stringContaining("on node n-east") },
    });
  });

  test("is gone on with on its own node", async () => {
    const { prepare, sessionId } = await site(moves, here.node);
    const prepared = await prepare({ resumed_from: sessionId }, { by: here, nodeOf: gone });
    expect(prepared).toMatchObject({ order: { session: { kind: "resume", sessionId } } });
  });
});

describe("what stays up after a turn", () => {
  test.each([
    ["a conversation's claude", "", true],
    ["not one with a budget, which claude counts over all turns", "max_budget_usd: 1", false],
    ["not one that is followed by its session file", fromFile, false],
    ["not one whose agent wants none", "session: { live: 0s }", false],
  ])("%s", async (_, yaml, live) => {
    const { prepare } = await site(yaml);
    const prepared = await prepare({}, { live: true });
    expect(prepared).toMatchObject({
      order: live ? { live } : expect.not.objectContaining({ live: true }),
    });
  });
});

describe("a claude that is started before its job", () => {
  test("gets a fresh session in the agent's workspace", async () => {
    const { base, cwd } = await site("warm: 1");
    expect(await prepareWarm(base, "job-to-come")).toMatchObject({
      ...{ jobId: "job-to-come", attempt: 1, prompt: "", cwd },
      session: { kind: "fresh" },
    });
  });

  test.each([
    ["whose turns cannot be told apart", fromFile, {}],
    ["whose program is not there", "", { claudePath: "/nowhere/claude" }],
    ["whose workspace is not there", "working_directory: /nowhere/at/all", {}],
  ])("there is none for an agent %s", async (_, yaml, more) => {
    const { base } = await site();
    const agent = agentOf(load(inlineAgent(yaml || "model: opus")), "one");
    expect(await prepareWarm({ ...base, agent, ...more }, "job-to-come")).toBeUndefined();
  });
});
