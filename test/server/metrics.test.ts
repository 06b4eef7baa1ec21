import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { bearer, startHttpHarness } from "./http-harness.ts";
import { sendRequest, startSocketHarness } from "./socket-harness.ts";

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Parses the text format of Prometheus; throws on an invalid line. */
function parseMetrics(text: string): Sample[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .split("\n")
    .filter((line) => line !== "" && !/^# (HELP|TYPE) [a-z_]+ /.test(line))
    .map((line) => {
      const found = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
      const [, name = "", labels = "", value = ""] = found ?? expect.fail(`not a sample: ${line}`);
      const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g)];
      expect(pairs.map(([whole]) => whole).join("")).toBe(labels);
      return {
        name,
        labels: Object.fromEntries(pairs.map(([, key = "", text = ""]) => [key, text])),
        value: Number(value),
      };
    });
}

function valueFor(samples: Sample[], name: string, labels: Record<string, string> = {}) {
  return samples.find(
    (sample) =>
      sample.name === name &&
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )?.value;
}

test("reports finished jobs, their durations and the queue", async () => {
  const { fleet, socket } = await startSocketHarness();
  const coder = { agent: "coder" } as const;
  const { job } = await fleet.jobs.trigger(coder);
  await fleet.finishJob(await fleet.startJob(job));
  await fleet.jobs.cancel((await fleet.jobs.trigger(coder)).job.id);
  await fleet.jobs.trigger(coder);
  const { job: busy } = await fleet.jobs.trigger({ ...coder, agent: "writer", prompt: "write" });
  await fleet.createApproval(await fleet.startJob(busy), "Bash", { command: "ls" });
  const delivery = { id: "d", agent: "coder", schedule: "hook", status: "accepted" as const };
  const rest = {
    dedup_key: "k",
    received_at: "",
    event: null,
    content_type: "",
    headers: {},
    bytes: 1,
  };
  fleet.emit({
    type: "delivery:received",
    delivery: {
      ...rest,
      ...delivery,
      reason: null,
      job_id: null,
      redeliveries: 0,
      replay_of: null,
    },
  });

  const answer = await waitUntil("the events to be counted", async () => {
    const found = await sendRequest(socket, "GET", "/metrics");
    return found.text.includes("herdctl_webhook_deliveries_total{") && found;
  });
  expect(answer.type).toContain("text/plain");
  const samples = parseMetrics(answer.text);
  const ended = (status: string, outcome: string) =>
    valueFor(samples, "herdctl_jobs_total", { agent: "coder", status, outcome });
  expect([ended("completed", "success"), ended("cancelled", "cancelled")]).toEqual([1, 1]);
  const agent = "coder";
  expect(valueFor(samples, "herdctl_job_duration_seconds_count", { agent })).toBe(1);
  expect(valueFor(samples, "herdctl_job_duration_seconds_bucket", { agent, le: "+Inf" })).toBe(1);
  expect(valueFor(samples, "herdctl_jobs", { agent, status: "pending" })).toBe(1);
  expect(valueFor(samples, "herdctl_jobs", { agent: "writer", status: "running" })).toBe(1);
  expect(valueFor(samples, "herdctl_approvals_open")).toBe(1);
  expect(
    valueFor(samples, "herdctl_webhook_deliveries_total", {
      schedule: "hook",
      status: "accepted",
    }),
  ).toBe(1);
});

test("sums costs and tokens by kind", async () => {
  const { fleet, socket } = await startSocketHarness();
  const cost = (cost_usd: number, tokens: number) => ({
    cost_usd,
    usage: {
      input_tokens: tokens,
      output_tokens: 2 * tokens,
      cache_read_input_tokens: 3 * tokens,
      cache_creation_input_tokens: 4 * tokens,
      models: {},
    },
  });
  const end = async (agent: string, usd: number, tokens: number) => {
    const { job } = await fleet.jobs.trigger({ agent, prompt: "p" });
    await fleet.finishJob(await fleet.startJob(job), cost(usd, tokens));
  };
  await end("coder", 0.25, 10);
  await end("coder", 0.5, 100);
  await end("writer", 2, 1);

  const samples = await waitUntil("all three jobs to be counted", async () => {
    const found = parseMetrics((await sendRequest(socket, "GET", "/metrics")).text);
    return valueFor(found, "herdctl_jobs_total", { agent: "writer" }) === 1 && found;
  });
  const costOf = (agent: string) => valueFor(samples, "herdctl_cost_usd_total", { agent });
  expect([costOf("coder"), costOf("writer")]).toEqual([0.75, 2]);
  const tokensOf = (agent: string, kind: string) =>
    valueFor(samples, "herdctl_tokens_total", { agent, kind });
  const kinds = ["input", "output", "cache_read", "cache_creation"];
  expect(kinds.map((kind) => tokensOf("coder", kind))).toEqual([110, 220, 330, 440]);
  expect(kinds.map((kind) => tokensOf("writer", kind))).toEqual([1, 2, 3, 4]);
});

test("counts the lateness of schedules and refused deliveries of a real fleet", async () => {
  const schedule = "{ type: interval, every: 1s, prompt: p }";
  const harness = await startHttpHarness({
    agents: `  - name: coder
    working_directory: /nowhere
    schedules:
      often: ${schedule}
      hook: { type: webhook, prompt: p, signature: { kind: token, secret_env: NONE } }`,
  });
  await harness.fleet.start();
  expect((await harness.send("POST", "/hooks/coder/hook", { body: "{}" })).status).toBe(415);
  const samples = await waitUntil("a due time to be counted", async () => {
    const { text } = await harness.send("GET", "/metrics", { headers: bearer(harness.token) });
    const found = parseMetrics(text);
    const count = valueFor(found, "herdctl_schedule_skew_seconds_count", { schedule: "often" });
    return count === undefined || count === 0 ? undefined : found;
  });
  expect(
    valueFor(samples, "herdctl_webhook_refused_total", {
      schedule: "hook",
      reason: "media_type_wrong",
    }),
  ).toBe(1);
  expect(valueFor(samples, "herdctl_fleet_info", { fleet: "test" })).toBe(1);
});
