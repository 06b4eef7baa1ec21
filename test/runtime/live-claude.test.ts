import type { SDKMessage } from "@herdctl/core";
import { expect, test } from "vitest";
import type { ExecuteOptions } from "../../packages/core/src/runner/runtime/interface.ts";
import { LiveClaude } from "../../packages/core/src/runner/runtime/live-claude.ts";
import { MessageQueue } from "../../packages/core/src/runner/runtime/message-queue.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

/*
 * What the real binary does at no one's wish: it speaks between turns, fails, or ends another
 * session's turn. The turns of the real one are in test/fleet.
 */

// The edge: only what the live claude looks at is given.
const message = (some: object) => some as SDKMessage;
const well = message({ type: "result", subtype: "success", is_error: false, session_id: "s" });
const system = (subtype: string) => message({ type: "system", subtype });

function optionsFor(prompt: string, more: Partial<ExecuteOptions> = {}): ExecuteOptions {
  const agent = agentOf(load(inlineAgent("model: opus")), "one");
  return {
    ...{ agent, prompt, claude: "claude", cwd: "/", env: {}, privateDir: "/", stays: true },
    claudeVersion: "2.1.325",
    session: { kind: "fresh", sessionId: "s" },
    signal: new AbortController().signal,
    ...more,
  };
}

/** A claude by hand: what it is told is put down, and it says what the test has it say. */
async function open(first: ExecuteOptions, failure?: Error) {
  const messages = new MessageQueue<SDKMessage>();
  const told: string[] = [];
  let given: ExecuteOptions = first;
  const live = await LiveClaude.open(
    {
      execute: () => expect.fail("a live claude is opened, not executed"),
      open: async (options) => {
        given = options;
        return {
          messages: failure ? breaking(messages, failure) : messages,
          exited: Promise.resolve(),
          settings: {},
          readSettings: async () => undefined,
          say: ({ message }) => void told.push(String(message.content)),
          stop: () => void told.push("(stop)"),
          finish: () => void told.push("(finish)"),
          close: async () => void told.push("(close)"),
        };
      },
    },
    first,
  );
  return { live, messages, told, given };
}

async function* breaking(messages: AsyncIterable<SDKMessage>, failure: Error) {
  yield* messages;
  throw failure;
}

async function all(turn: AsyncIterable<SDKMessage>): Promise<SDKMessage[]> {
  const heard = [];
  for await (const one of turn) heard.push(one);
  return heard;
}

test("each turn hears its own, and the next goes on in the same process", async () => {
  const first = optionsFor("one");
  const { live, messages, told } = await open(first);
  messages.push(system("init"));
  messages.push(well);
  expect(await all(live.turn(first))).toEqual([system("init"), well]);
  expect(live.isWaiting).toBe(true);
  const second = all(live.turn(optionsFor("two")));
  messages.push(well);
  expect(await second).toEqual([well]);
  expect(told).toEqual(["one", "two"]);
});

test.each([
  ["is not let stay", { stays: false }, well],
  ["failed", {}, message({ ...well, subtype: "error_during_execution", is_error: true })],
  ["ended in another session", {}, message({ ...well, session_id: "another" })],
])("after a turn that %s it goes", async (_, more, lastWord) => {
  const first = optionsFor("one", more);
  const { live, messages, told } = await open(first);
  messages.push(lastWord);
  messages.end();
  expect(await all(live.turn(first))).toEqual([lastWord]);
  expect(told).toEqual(["one", "(finish)"]);
  expect(live.isWaiting).toBe(false);
});

test.each([
  ["a hook's news", system("hook_response"), true],
  ["the state of its limits", message({ type: "rate_limit_event" }), true],
  ["the beginning of a turn", system("init"), false],
  ["lost writes of its session", system("session_writes_lost"), false],
  ["an answer that nobody asked for", message({ type: "assistant" }), false],
])("between turns: %s", async (_, unasked, isHarmless) => {
  const first = optionsFor("one");
  const { live, messages, told } = await open(first);
  messages.push(well);
  await all(live.turn(first));
  messages.push(unasked);
  if (!isHarmless) await live.gone;
  await new Promise(setImmediate);
  expect(live.isWaiting).toBe(isHarmless);
  expect(told).toEqual(isHarmless ? ["one"] : ["one", "(stop)"]);
});

test("what breaks the stream fails the turn", async () => {
  const first = optionsFor("one");
  const { live, messages } = await open(first, new Error("the line broke"));
  const turn = all(live.turn(first));
  messages.end();
  await expect(turn).rejects.toThrow("the line broke");
  await live.gone;
});

test("a turn that is stopped before it begins is stopped", async () => {
  const stop = new AbortController();
  stop.abort();
  const first = optionsFor("one", { signal: stop.signal });
  const { live, messages, told } = await open(first);
  messages.push(well);
  messages.end();
  await all(live.turn(first));
  expect(told).toEqual(["(stop)", "one", "(finish)"]);
});

test("a stop that comes after its turn does not reach the next", async () => {
  const stop = new AbortController();
  const first = optionsFor("one", { signal: stop.signal });
  const { live, messages, told } = await open(first);
  messages.push(well);
  await all(live.turn(first));
  stop.abort();
  expect(told).toEqual(["one"]);
  expect(live.isWaiting).toBe(true);
});

test("a turn of one that has ended meanwhile ends at once", async () => {
  const first = optionsFor("one");
  const { live, messages, told } = await open(first);
  messages.push(well);
  await all(live.turn(first));
  await live.close();
  expect(await all(live.turn(optionsFor("two")))).toEqual([]);
  expect(told).toEqual(["one", "(close)", "two"]);
});

test("a tool is asked for at whoever has the turn; between turns it is denied", async () => {
  const { signal } = new AbortController();
  const request = { tool: "Bash", toolUseId: "use-1", input: {} };
  const allow = { behavior: "allow" as const, updatedInput: {} };
  const first = optionsFor("one", { onPermission: async () => allow });
  const { live, messages, given } = await open(first);
  expect(await given.onPermission?.(request, signal)).toEqual(allow);
  messages.push(well);
  await all(live.turn(first));
  expect(await given.onPermission?.(request, signal)).toEqual({
    behavior: "deny",
    message: "Nobody can be asked for permission.",
  });
});

test("what was seen of the container and warned of at the start is told to every turn", async () => {
  const seen: string[] = [];
  const observer = (turn: string) => ({
    container: () => void seen.push(`${turn}: container`),
    warning: (text: string) => void seen.push(`${turn}: ${text}`),
  });
  const first = optionsFor("one", { observer: observer("first") });
  const { live, messages, given } = await open(first);
  given.observer?.container?.({ id: "c1" });
  given.observer?.warning?.("mind this");
  messages.push(well);
  await all(live.turn(first));
  const second = all(live.turn(optionsFor("two", { observer: observer("second") })));
  messages.push(well);
  await second;
  expect(seen).toEqual([
    "first: container",
    "first: mind this",
    "second: container",
    "second: mind this",
  ]);
});

test("one on the host is never out of date or used up by what surrounds it", async () => {
  const { live } = await open(optionsFor("one"));
  expect(await live.isOutOfDate()).toBe(false);
  expect(await live.isUsedUp()).toBe(false);
});
