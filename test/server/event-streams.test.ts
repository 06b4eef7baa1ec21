import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { FleetEvent, Job, JobOutput } from "@herdctl/protocol";
import { expect, onTestFinished, test } from "vitest";
import { withHeartbeat } from "../../packages/server/src/streams/sse-events.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { connect, type SocketHarness, sendRequest, startSocketHarness } from "./socket-harness.ts";

const coder = { agent: "coder" } as const;

async function collect<T>(source: AsyncIterable<T>, count = Number.POSITIVE_INFINITY) {
  const found: T[] = [];
  if (count === 0) return found;
  for await (const one of source) {
    found.push(one);
    if (found.length === count) break;
  }
  return found;
}

function textsOf(output: JobOutput[]): unknown[] {
  return output.map(({ message }) => JSON.stringify(message).match(/"text":"([^"]*)"/)?.[1]);
}

interface OpenStream {
  sent: ClientRequest;
  response: IncomingMessage;
}

async function openStream(
  socketPath: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<OpenStream> {
  const sent = request({ socketPath, path, headers });
  sent.on("error", () => undefined);
  sent.end();
  const [response] = await once(sent, "response");
  onTestFinished(() => void sent.destroy());
  return { sent, response };
}

/** The raw frames of the stream without heartbeats. */
async function framesOf({ response }: OpenStream, count: number): Promise<string[]> {
  let text = "";
  response.setEncoding("utf8");
  for await (const chunk of response) {
    text += chunk;
    const frames = text
      .split("\n\n")
      .slice(0, -1)
      .filter((frame) => !frame.startsWith(":"));
    if (frames.length >= count) return frames.slice(0, count);
  }
  return expect.fail(`the stream ended after ${JSON.stringify(text)}`);
}

function idOf(frame: string | undefined): string {
  return /^id: (.*)$/m.exec(frame ?? "")?.[1] ?? "";
}

async function pauseRepeatedly({ fleet }: SocketHarness, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await fleet.agents.pause("coder");
}

async function waitForCondition(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) expect.fail("it did not come to pass");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("includes events from the call on, also those of the very next call", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const subscription = new AbortController();
  const events = client.events({ signal: subscription.signal });
  const { job } = await client.jobs.trigger(coder);
  const done = await fleet.finishJob(await fleet.startJob(job));
  const seen = await collect<FleetEvent>(events, 3);
  expect(seen.map(({ type }) => type)).toEqual(["job:created", "job:started", "job:completed"]);
  expect(seen[2]).toEqual({ type: "job:completed", job: done, at: expect.any(String) });
  subscription.abort();
});

test("ends a subscription with its signal", async () => {
  const { socket } = await startSocketHarness();
  const client = await connect(socket);
  expect(await collect(client.events({ signal: AbortSignal.timeout(100) }))).toEqual([]);
});

test("continues after the last received event when a reader returns", async () => {
  const served = await startSocketHarness();
  const first = await openStream(served.socket, "/v1/events");
  await pauseRepeatedly(served, 5);
  const seen = await framesOf(first, 2);
  first.sent.destroy();
  const headers = { "last-event-id": idOf(seen[1]) };
  const second = await framesOf(await openStream(served.socket, "/v1/events", headers), 3);
  const ids = [...seen, ...second].map(idOf);
  expect(new Set(ids).size).toBe(5);
  expect(ids.map((id) => Number(id.split("-")[1]))).toEqual([1, 2, 3, 4, 5]);
  expect(second[0]).toContain(`event: agent:paused\ndata: {"type":"agent:paused","agent":"coder"`);
});

test("sends a reset to a reader whose events are no longer stored", async () => {
  const served = await startSocketHarness();
  const first = await openStream(served.socket, "/v1/events");
  await pauseRepeatedly(served, 1);
  const [seen] = await framesOf(first, 1);
  first.sent.destroy();
  const watching = await openStream(served.socket, "/v1/events");
  await pauseRepeatedly(served, 2_500);
  await framesOf(watching, 2_500);
  for (const id of [idOf(seen), "00000000-7", "nonsense", `${idOf(seen)}999999`]) {
    const headers = { "last-event-id": id };
    const again = await openStream(served.socket, "/v1/events", headers);
    const [reset] = await framesOf(again, 1);
    expect(reset).toContain(`event: reset\ndata: {"type":"reset","after":${JSON.stringify(id)}}`);
    again.sent.destroy();
  }
});

test("disconnects a reader that does not read, without losses for others", async () => {
  const served = await startSocketHarness();
  const slow = await openStream(served.socket, "/v1/events");
  slow.response.pause();
  const client = await connect(served.socket);
  const subscription = new AbortController();
  onTestFinished(() => subscription.abort());
  const reading = collect(client.events({ signal: subscription.signal }), 6_000);
  await client.status();
  const before = process.memoryUsage().rss;
  for (let time = 0; time < 6_000; time += 1) {
    served.fleet.emit({ type: "fleet:problem", message: `${time} ${"x".repeat(4_000)}` });
    if (time % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const seen = await reading;
  expect(
    seen.map((event) => event.type === "fleet:problem" && Number.parseInt(event.message, 10)),
  ).toEqual(Array.from({ length: 6_000 }, (_, time) => time));
  slow.response.resume();
  await expect(collect(slow.response)).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((process.memoryUsage().rss - before) / 1024 ** 2).toBeLessThan(250);
});

test("returns output from an offset, as events and as lines", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  for (const text of ["one", "two", "three"]) await fleet.appendAgentMessage(job, text);
  const all = await collect(client.jobs.output(job.id));
  expect(all).toEqual(await collect(fleet.jobs.output(job.id)));
  expect(textsOf(all)).toEqual(["one", "two", "three"]);
  expect(textsOf(await collect(client.jobs.output(job.id, { from: all[0]?.offset })))).toEqual([
    "two",
    "three",
  ]);
  const lines = await sendRequest(
    socket,
    "GET",
    `/v1/jobs/${job.id}/output?from=${all[1]?.offset}`,
  );
  expect(lines.type).toBe("application/x-ndjson");
  expect(lines.text).toBe(`${JSON.stringify(all[2])}\n`);
  const headers = { accept: "text/event-stream", "last-event-id": String(all[1]?.offset) };
  const frames = await sendRequest(socket, "GET", `/v1/jobs/${job.id}/output`, { headers });
  expect(frames.text).toContain(`id: ${all[2]?.offset}\nevent: message\ndata: `);
  expect(frames.text).not.toContain("two");
});

test("ends followed output with the job", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  const reading = collect(
    client.jobs.output(job.id, { follow: true, signal: new AbortController().signal }),
  );
  for (const text of ["one", "two"]) await fleet.appendAgentMessage(job, text);
  await fleet.finishJob(job);
  expect(textsOf(await reading)).toEqual(["one", "two"]);
});

test("ends following by the signal or by leaving the loop", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  await fleet.appendAgentMessage(job, "one");
  expect(
    textsOf(
      await collect(
        client.jobs.output(job.id, { follow: true, signal: new AbortController().signal }),
        1,
      ),
    ),
  ).toEqual(["one"]);
  const subscription = new AbortController();
  const seen: JobOutput[] = [];
  for await (const one of client.jobs.output(job.id, {
    follow: true,
    signal: subscription.signal,
  })) {
    seen.push(one);
    subscription.abort();
  }
  expect(textsOf(seen)).toEqual(["one"]);
  await waitForCondition(() => !process.getActiveResourcesInfo().includes("FSEventWrap"));
});

test("leaves no file open when a reader leaves a long log midway", async () => {
  const { fleet, socket } = await startSocketHarness();
  const warnings: string[] = [];
  const warned = ({ message }: Error) => void warnings.push(message);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { job } = await fleet.jobs.trigger(coder);
  for (let more = 0; more < 20; more += 1) await fleet.appendAgentMessage(job, "y".repeat(500_000));
  const { sent, response } = await openStream(socket, `/v1/jobs/${job.id}/output`);
  await once(response, "readable");
  expect(openFiles()).toContain(job.output_file);
  sent.destroy();
  await waitUntil("the file to be closed", async () => !openFiles().includes(job.output_file));
  // Node warns when it has to close a forgotten file.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

/** The files that this process has open. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

test("sends the whole output of a job to each of a hundred readers", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  const readers = Array.from({ length: 100 }, () =>
    collect(client.jobs.output(job.id, { follow: true, signal: new AbortController().signal })),
  );
  for (const text of texts) await fleet.appendAgentMessage(job, text);
  await fleet.finishJob(job);
  const read = await Promise.all(readers);
  expect(new Set(read.map((output) => JSON.stringify(textsOf(output))))).toEqual(
    new Set([JSON.stringify(texts)]),
  );
});

test("shares one log reader between all readers and closes it with the last", async () => {
  const { fleet, socket } = await startSocketHarness();
  let readers = 0;
  const output = fleet.jobs.output.bind(fleet);
  fleet.jobs.output = async function* (id, options) {
    if (options?.follow) readers += 1;
    try {
      yield* output(id, options);
    } finally {
      if (options?.follow) readers -= 1;
    }
  };
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  await fleet.appendAgentMessage(job, "one");
  const subscription = new AbortController();
  const seen = Array.from({ length: 10 }, (): JobOutput[] => []);
  const reading = seen.map(async (mine, index) => {
    await new Promise((resolve) => setTimeout(resolve, 20 * index));
    for await (const one of client.jobs.output(job.id, {
      follow: true,
      signal: subscription.signal,
    }))
      mine.push(one);
  });
  for (const text of ["two", "three", "four"]) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await fleet.appendAgentMessage(job, text);
  }
  await waitForCondition(() => seen.every((mine) => mine.length === 4));
  expect(new Set(seen.map((mine) => JSON.stringify(textsOf(mine))))).toEqual(
    new Set([JSON.stringify(["one", "two", "three", "four"])]),
  );
  expect(readers).toBe(1);
  subscription.abort();
  await Promise.all(reading);
  await waitForCondition(() => readers === 0);
});

test("sends everything to a slow reader of a busy job without blocking others", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  const path = `/v1/jobs/${job.id}/output?follow=true`;
  const slow = await openStream(socket, path);
  slow.response.pause();
  const never = new AbortController().signal;
  const quick = collect(client.jobs.output(job.id, { follow: true, signal: never }));
  const texts = Array.from({ length: 2_000 }, (_, index) => `${index} ${"x".repeat(4_000)}`);
  for (const text of texts) await fleet.appendAgentMessage(job, text);
  await fleet.finishJob(job);
  expect(textsOf(await quick)).toEqual(texts);
  slow.response.resume();
  const lines = Buffer.concat(await collect<Buffer>(slow.response))
    .toString()
    .trim()
    .split("\n");
  expect(textsOf(lines.map((line) => JSON.parse(line)))).toEqual(texts);
});

test("omits output on request and continues from the reader's position", async () => {
  const served = await startSocketHarness();
  const { fleet, socket } = served;
  const { job } = await fleet.jobs.trigger(coder);
  const first = await openStream(socket, "/v1/events?output=false");
  const message = { type: "assistant" } as never;
  await pauseRepeatedly(served, 1);
  for (const offset of [1, 2])
    fleet.emit({ type: "job:output", job_id: job.id, agent: "coder", message, offset });
  await pauseRepeatedly(served, 1);
  const seen = await framesOf(first, 2);
  expect(seen.map((frame) => /event: (.*)/.exec(frame)?.[1])).toEqual([
    "agent:paused",
    "agent:paused",
  ]);
  const headers = { "last-event-id": idOf(seen[0]) };
  const again = await openStream(socket, "/v1/events?output=false", headers);
  expect((await framesOf(again, 1)).map(idOf)).toEqual([idOf(seen[1])]);
});

test("sends a message of ten megabytes", async () => {
  const { fleet, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  const text = "äö".repeat(2_500_000);
  await fleet.appendAgentMessage(job, text);
  expect(textsOf(await collect(client.jobs.output(job.id)))).toEqual([text]);
});

test("breaks streams on stop so that no client takes it for their end", async () => {
  const { fleet, server, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  await fleet.startJob(job);
  await fleet.appendAgentMessage(job, "one");
  const never = new AbortController().signal;
  const output: JobOutput[] = [];
  const following = (async () => {
    for await (const one of client.jobs.output(job.id, { follow: true, signal: never }))
      output.push(one);
  })();
  const subscription = collect(client.events({ signal: never }));
  const waiting = client.jobs.wait(job.id);
  const failures = [following, subscription, waiting].map((work) =>
    expect(work).rejects.toMatchObject({ code: "fleet_unreachable" }),
  );
  await client.status();
  await waitForCondition(() => output.length === 1);
  const stuck = await openStream(socket, "/v1/events");
  stuck.response.pause();
  const began = Date.now();
  await server.stop();
  expect(Date.now() - began).toBeLessThan(1_500);
  await Promise.all(failures);
});

test("finishes open responses on stop", async () => {
  const { fleet, server, socket } = await startSocketHarness();
  const client = await connect(socket);
  const { job } = await client.jobs.trigger(coder);
  const cancel = fleet.jobs.cancel.bind(fleet);
  let stopping: Promise<void> | undefined;
  fleet.jobs.cancel = async (id: string): Promise<Job> => {
    stopping = server.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return cancel(id);
  };
  expect(await client.jobs.cancel(job.id)).toMatchObject({ status: "cancelled" });
  await stopping;
});

test("sends heartbeats in a silent stream", async () => {
  async function* slow() {
    for (const text of ["one", "two"]) {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      yield text;
    }
  }
  const pieces = await collect(withHeartbeat(slow(), 20));
  expect(pieces.filter((piece) => piece !== ":\n\n")).toEqual(["one", "two"]);
  expect(pieces.slice(0, 3)).toEqual([":\n\n", ":\n\n", ":\n\n"]);
});
