import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { FleetEvent, Job, JobOutput } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { withHeartbeat } from "../../packages/server/src/live/frames.ts";
import { until } from "../support/fleet-program.ts";
import { ask, connect, type ServedFleet, serve } from "./stage.ts";

const coder = { trigger: "manual", agent: "coder" } as const;

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

/** Frames as they stand in the stream, without signs of life. */
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

async function pausing({ fleet }: ServedFleet, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) await fleet.pauseAgent("coder");
}

async function eventually(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) expect.fail("it did not come to pass");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("events are seen from the call on, also those of the very next call", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const looking = new AbortController();
  const events = client.events(looking.signal);
  const { job } = await client.trigger(coder);
  const done = await fleet.finish(await fleet.begin(job));
  const seen = await collect<FleetEvent>(events, 3);
  expect(seen.map(({ type }) => type)).toEqual(["job:created", "job:started", "job:completed"]);
  expect(seen[2]).toEqual({ type: "job:completed", job: done });
  looking.abort();
});

test("looking on ends with the signal", async () => {
  const { socket } = await serve();
  const client = await connect(socket);
  expect(await collect(client.events(AbortSignal.timeout(100)))).toEqual([]);
});

test("a reader who comes back goes on after the event he saw last", async () => {
  const served = await serve();
  const first = await openStream(served.socket, "/v1/events");
  await pausing(served, 5);
  const seen = await framesOf(first, 2);
  first.sent.destroy();
  const headers = { "last-event-id": idOf(seen[1]) };
  const second = await framesOf(await openStream(served.socket, "/v1/events", headers), 3);
  const ids = [...seen, ...second].map(idOf);
  expect(new Set(ids).size).toBe(5);
  expect(ids.map((id) => Number(id.split("-")[1]))).toEqual([1, 2, 3, 4, 5]);
  expect(second[0]).toContain(`event: agent:paused\ndata: {"type":"agent:paused","agent":"coder"`);
});

test("a reader whose events are gone is told to look anew", async () => {
  const served = await serve();
  const first = await openStream(served.socket, "/v1/events");
  await pausing(served, 1);
  const [seen] = await framesOf(first, 1);
  first.sent.destroy();
  const watching = await openStream(served.socket, "/v1/events");
  await pausing(served, 2_500);
  await framesOf(watching, 2_500);
  for (const id of [idOf(seen), "00000000-7", "nonsense", `${idOf(seen)}999999`]) {
    const headers = { "last-event-id": id };
    const again = await openStream(served.socket, "/v1/events", headers);
    const [reset] = await framesOf(again, 1);
    expect(reset).toContain(`event: reset\ndata: {"type":"reset","after":${JSON.stringify(id)}}`);
    again.sent.destroy();
  }
});

test("a reader who does not read is cut off; the others miss nothing", async () => {
  const served = await serve();
  const slow = await openStream(served.socket, "/v1/events");
  slow.response.pause();
  const client = await connect(served.socket);
  const looking = new AbortController();
  onTestFinished(() => looking.abort());
  const reading = collect(client.events(looking.signal), 6_000);
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

test("output is read from an offset on, as events and as lines", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  for (const text of ["one", "two", "three"]) await fleet.say(job, text);
  const all = await collect(client.output(job.id));
  expect(all).toEqual(await collect(fleet.output(job.id)));
  expect(textsOf(all)).toEqual(["one", "two", "three"]);
  expect(textsOf(await collect(client.output(job.id, { from: all[0]?.offset })))).toEqual([
    "two",
    "three",
  ]);
  const lines = await ask(socket, "GET", `/v1/jobs/${job.id}/output?from=${all[1]?.offset}`);
  expect(lines.type).toBe("application/jsonl");
  expect(lines.text).toBe(`${JSON.stringify(all[2])}\n`);
  const headers = { accept: "text/event-stream", "last-event-id": String(all[1]?.offset) };
  const frames = await ask(socket, "GET", `/v1/jobs/${job.id}/output`, { headers });
  expect(frames.text).toContain(`id: ${all[2]?.offset}\nevent: message\ndata: `);
  expect(frames.text).not.toContain("two");
});

test("followed output ends in good order with the job", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  const reading = collect(client.output(job.id, { follow: new AbortController().signal }));
  for (const text of ["one", "two"]) await fleet.say(job, text);
  await fleet.finish(job);
  expect(textsOf(await reading)).toEqual(["one", "two"]);
});

test("whoever follows can turn away, by signal or by leaving the loop", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  await fleet.say(job, "one");
  expect(
    textsOf(await collect(client.output(job.id, { follow: new AbortController().signal }), 1)),
  ).toEqual(["one"]);
  const looking = new AbortController();
  const seen: JobOutput[] = [];
  for await (const one of client.output(job.id, { follow: looking.signal })) {
    seen.push(one);
    looking.abort();
  }
  expect(textsOf(seen)).toEqual(["one"]);
  await eventually(() => !process.getActiveResourcesInfo().includes("FSEventWrap"));
});

test("whoever leaves in the middle of a long log leaves no file open", async () => {
  const { fleet, socket } = await serve();
  const warnings: string[] = [];
  const warned = ({ message }: Error) => void warnings.push(message);
  process.on("warning", warned);
  onTestFinished(() => void process.off("warning", warned));
  const { job } = await fleet.trigger(coder);
  for (let more = 0; more < 20; more += 1) await fleet.say(job, "y".repeat(500_000));
  const { sent, response } = await openStream(socket, `/v1/jobs/${job.id}/output`);
  await once(response, "readable");
  expect(openFiles()).toContain(job.output_file);
  sent.destroy();
  await until("the file is closed", async () => !openFiles().includes(job.output_file));
  // Node closes in the end what was forgotten, and says so.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

/** What this process has open, by name. */
function openFiles(): string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

test("a hundred readers of one job each get all of it", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  const texts = Array.from({ length: 20 }, (_, index) => `message ${index}`);
  const readers = Array.from({ length: 100 }, () =>
    collect(client.output(job.id, { follow: new AbortController().signal })),
  );
  for (const text of texts) await fleet.say(job, text);
  await fleet.finish(job);
  const read = await Promise.all(readers);
  expect(new Set(read.map((output) => JSON.stringify(textsOf(output))))).toEqual(
    new Set([JSON.stringify(texts)]),
  );
});

test("readers who come at any time share one reader of the log, and it leaves with the last", async () => {
  const { fleet, socket } = await serve();
  let readers = 0;
  const output = fleet.output.bind(fleet);
  fleet.output = async function* (id, options) {
    if (options?.follow) readers += 1;
    try {
      yield* output(id, options);
    } finally {
      if (options?.follow) readers -= 1;
    }
  };
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  await fleet.say(job, "one");
  const looking = new AbortController();
  const seen = Array.from({ length: 10 }, (): JobOutput[] => []);
  const reading = seen.map(async (mine, index) => {
    await new Promise((resolve) => setTimeout(resolve, 20 * index));
    for await (const one of client.output(job.id, { follow: looking.signal })) mine.push(one);
  });
  for (const text of ["two", "three", "four"]) {
    await new Promise((resolve) => setTimeout(resolve, 60));
    await fleet.say(job, text);
  }
  await eventually(() => seen.every((mine) => mine.length === 4));
  expect(new Set(seen.map((mine) => JSON.stringify(textsOf(mine))))).toEqual(
    new Set([JSON.stringify(["one", "two", "three", "four"])]),
  );
  expect(readers).toBe(1);
  looking.abort();
  await Promise.all(reading);
  await eventually(() => readers === 0);
});

test("one who reads a busy job slowly is given all of it, and holds up nobody", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  const path = `/v1/jobs/${job.id}/output?follow=true`;
  const slow = await openStream(socket, path);
  slow.response.pause();
  const never = new AbortController().signal;
  const quick = collect(client.output(job.id, { follow: never }));
  const texts = Array.from({ length: 2_000 }, (_, index) => `${index} ${"x".repeat(4_000)}`);
  for (const text of texts) await fleet.say(job, text);
  await fleet.finish(job);
  expect(textsOf(await quick)).toEqual(texts);
  slow.response.resume();
  const lines = Buffer.concat(await collect<Buffer>(slow.response))
    .toString()
    .trim()
    .split("\n");
  expect(textsOf(lines.map((line) => JSON.parse(line)))).toEqual(texts);
});

test("whoever asks for events without output is spared it, and goes on where he was", async () => {
  const served = await serve();
  const { fleet, socket } = served;
  const { job } = await fleet.trigger(coder);
  const first = await openStream(socket, "/v1/events?output=false");
  const message = { type: "assistant" } as never;
  await pausing(served, 1);
  for (const offset of [1, 2])
    fleet.emit({ type: "job:output", job_id: job.id, agent: "coder", message, offset });
  await pausing(served, 1);
  const seen = await framesOf(first, 2);
  expect(seen.map((frame) => /event: (.*)/.exec(frame)?.[1])).toEqual([
    "agent:paused",
    "agent:paused",
  ]);
  const headers = { "last-event-id": idOf(seen[0]) };
  const again = await openStream(socket, "/v1/events?output=false", headers);
  expect((await framesOf(again, 1)).map(idOf)).toEqual([idOf(seen[1])]);
});

test("a message of ten megabytes comes through whole", async () => {
  const { fleet, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  const text = "äö".repeat(2_500_000);
  await fleet.say(job, text);
  expect(textsOf(await collect(client.output(job.id)))).toEqual([text]);
});

test("a server that stops cuts what is streamed, so that nobody takes it for the end", async () => {
  const { fleet, server, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  await fleet.begin(job);
  await fleet.say(job, "one");
  const never = new AbortController().signal;
  const output: JobOutput[] = [];
  const following = (async () => {
    for await (const one of client.output(job.id, { follow: never })) output.push(one);
  })();
  const looking = collect(client.events(never));
  const waiting = client.wait(job.id);
  const failures = [following, looking, waiting].map((work) =>
    expect(work).rejects.toMatchObject({ code: "fleet_unreachable" }),
  );
  await client.status();
  await eventually(() => output.length === 1);
  const stuck = await openStream(socket, "/v1/events");
  stuck.response.pause();
  const began = Date.now();
  await server.stop();
  expect(Date.now() - began).toBeLessThan(1_500);
  await Promise.all(failures);
});

test("what is being answered when the server stops is still answered", async () => {
  const { fleet, server, socket } = await serve();
  const client = await connect(socket);
  const { job } = await client.trigger(coder);
  const cancel = fleet.cancel.bind(fleet);
  let stopping: Promise<void> | undefined;
  fleet.cancel = async (id: string): Promise<Job> => {
    stopping = server.stop();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return cancel(id);
  };
  expect(await client.cancel(job.id)).toMatchObject({ status: "cancelled" });
  await stopping;
});

test("a stream in which nothing is said shows that it lives", async () => {
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
