import { explainWait } from "@herdctl/protocol";
import { expect, test } from "vitest";

type Facts = Parameters<typeof explainWait>[1];
type WaitingJob = Parameters<typeof explainWait>[0];

const job: WaitingJob = {
  ...{ id: "job-2", agent: "coder", status: "pending", outcome: null, due_at: null, waits_for: [] },
};
const agent = { name: "coder", paused: null, running: [], max_concurrent: 1 };
const running = [{ job_id: "job-1", started_at: "", activity: "" }];
const facts: Facts = {
  agent,
  fleet: { running: 0, max_concurrent: 3, state: "running" },
  formatTime: () => "15:00",
};
const later = "2026-01-01T14:00:00.000Z";
const outcome = (code: "usage_limit" | "docker_unavailable", message: string) => ({
  code,
  message,
  hint: "",
});

test.each<[string, Partial<WaitingJob>, Partial<Facts>, string | undefined, string | undefined]>([
  ["about to start", {}, {}, undefined, undefined],
  ["finished", { status: "completed" }, { agent: undefined }, undefined, undefined],
  ["queued", {}, { agent: { ...agent, running } }, "queued behind job-1", undefined],
  [
    "with a free place",
    {},
    { agent: { ...agent, running, max_concurrent: 2 } },
    undefined,
    undefined,
  ],
  [
    "paused",
    {},
    { agent: { ...agent, paused: { reason: "by user:ada", since: later } } },
    "queued: coder is paused (by user:ada)",
    "herdctl resume coder",
  ],
  [
    "in a busy fleet",
    {},
    { fleet: { running: 3, max_concurrent: 3, state: "running" } },
    "queued: the fleet runs 3 jobs, as many as `fleet.max_concurrent` allows",
    undefined,
  ],
  ["without a fleet", {}, { fleet: undefined }, "queued: no fleet is running", "herdctl start"],
  [
    "of a removed agent",
    {},
    { agent: undefined },
    "queued: there is no agent `coder` in the configuration",
    undefined,
  ],
  ["planned", { due_at: later }, {}, "queued until 15:00", undefined],
  [
    "at a limit",
    { status: "waiting", due_at: later, outcome: outcome("usage_limit", "The limit is reached.") },
    {},
    "usage_limit: The limit is reached. Continues at 15:00.",
    "herdctl retry job-2 --try-now",
  ],
  [
    "without an engine",
    { status: "waiting", due_at: later, outcome: outcome("docker_unavailable", "No such socket.") },
    {},
    "docker_unavailable: No such socket. Continues at 15:00.",
    undefined,
  ],
  [
    "delegated",
    { status: "waiting", waits_for: ["job-3", "job-4"] },
    {},
    "waiting for job-3 and 1 more",
    undefined,
  ],
  ["asking", { status: "waiting" }, {}, "waiting for a person: an answer", "herdctl approvals"],
])("explains a job that is %s", (_what, change, otherFacts, text, command) => {
  const explained = explainWait({ ...job, ...change }, { ...facts, ...otherFacts });
  expect(explained?.text).toBe(text);
  expect(explained?.command).toBe(command);
});
