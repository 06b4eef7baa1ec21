import { expect, test } from "vitest";
import { until } from "../support/fleet-program.ts";
import { bearer, portStage } from "./port-stage.ts";
import { ask, serve } from "./stage.ts";

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The text format of Prometheus; fails on a line that is none. */
function parsed(text: string): Sample[] {
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

test("metrics tell what ended, how long it took, and what waits", async () => {
  const { fleet, socket } = await serve();
  const coder = { trigger: "manual", agent: "coder" } as const;
  const { job } = await fleet.trigger(coder);
  await fleet.finish(await fleet.begin(job));
  await fleet.cancel((await fleet.trigger(coder)).job.id);
  await fleet.trigger(coder);
  const { job: busy } = await fleet.trigger({ ...coder, agent: "writer", prompt: "write" });
  await fleet.ask(await fleet.begin(busy), "Bash", { command: "ls" });
  const delivery = { id: "d", agent: "coder", schedule: "hook", verdict: "accepted" as const };
  const rest = { key: "k", received_at: "", event: null, content_type: "", headers: {}, bytes: 1 };
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

  const answer = await until("the events to be counted", async () => {
    const found = await ask(socket, "GET", "/metrics");
    return found.text.includes("herdctl_webhook_deliveries_total{") && found;
  });
  expect(answer.type).toContain("text/plain");
  const samples = parsed(answer.text);
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
      verdict: "accepted",
    }),
  ).toBe(1);
});

test("metrics add up what ended jobs cost, and their tokens by kind", async () => {
  const { fleet, socket } = await serve();
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
    const { job } = await fleet.trigger({ trigger: "manual", agent, prompt: "p" });
    await fleet.finish(await fleet.begin(job), cost(usd, tokens));
  };
  await end("coder", 0.25, 10);
  await end("coder", 0.5, 100);
  await end("writer", 2, 1);

  const samples = await until("all three jobs to be counted", async () => {
    const found = parsed((await ask(socket, "GET", "/metrics")).text);
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

test("a schedule's lateness and refused deliveries are counted, of a real fleet", async () => {
  const schedule = "{ type: interval, every: 1s, prompt: p }";
  const on = await portStage({
    agents: `  - name: coder
    working_directory: /nowhere
    schedules:
      often: ${schedule}
      hook: { type: webhook, prompt: p, signature: { kind: token, secret_env: NONE } }`,
  });
  await on.fleet.start();
  expect((await on.send("POST", "/hooks/coder/hook", { body: "{}" })).status).toBe(415);
  const samples = await until("a due time to be counted", async () => {
    const { text } = await on.send("GET", "/metrics", { headers: bearer(on.token) });
    const found = parsed(text);
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
