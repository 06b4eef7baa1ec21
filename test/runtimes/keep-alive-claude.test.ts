import type { SDKMessage } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { MessageQueue } from "../../packages/core/src/runner/runtimes/claude-handle.ts";
import { KeepAliveClaude } from "../../packages/core/src/runner/runtimes/keep-alive-claude.ts";
import type { ExecuteOptions } from "../../packages/core/src/runner/runtimes/runtime-interface.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

/*
 * Cases that the real binary cannot be made to produce: messages between turns, failures, and the
 * end of another session's turn. test/fleet runs turns of the real binary.
 */

// Cast because only the fields that LiveClaude reads are given.
const message = (some: object) => some as SDKMessage;
const successResult = message({
  type: "result",
  subtype: "success",
  is_error: false,
  session_id: "s",
});
const system = (subtype: string) => message({ type: "system", subtype });

function optionsFor(prompt: string, more: Partial<ExecuteOptions> = {}): ExecuteOptions {
  const agent = agentOf(loadTestFleet(inlineAgent("model: opus")), "one");
  return {
    ...{ agent, prompt, claude: "claude", cwd: "/", env: {}, privateDir: "/", keepAlive: true },
    claudeVersion: "2.1.325",
    session: { kind: "fresh", sessionId: "s" },
    signal: new AbortController().signal,
    ...more,
  };
}

/** A fake claude that records its input and sends what the test chooses. */
async function open(first: ExecuteOptions, failure?: Error) {
  const messages = new MessageQueue<SDKMessage>();
  const sent: string[] = [];
  let given: ExecuteOptions = first;
  const live = await KeepAliveClaude.open(
    {
      execute: () => expect.fail("a live claude is opened, not executed"),
      open: async (options) => {
        given = options;
        return {
          messages: failure ? failAfter(messages, failure) : messages,
          exited: Promise.resolve(),
          settings: {},
          readInitialization: async () => undefined,
          readSettings: async () => undefined,
          sendMessage: ({ message }) => void sent.push(String(message.content)),
          stop: () => void sent.push("(stop)"),
          finish: () => void sent.push("(finish)"),
          close: async () => void sent.push("(close)"),
        };
      },
    },
    first,
  );
  return { live, messages, sent, given };
}

async function* failAfter(messages: AsyncIterable<SDKMessage>, failure: Error) {
  yield* messages;
  throw failure;
}

async function collectMessages(turn: AsyncIterable<SDKMessage>): Promise<SDKMessage[]> {
  const received = [];
  for await (const one of turn) received.push(one);
  return received;
}

test("keeps the messages of each turn apart in the same process", async () => {
  const first = optionsFor("one");
  const { live, messages, sent } = await open(first);
  messages.push(system("init"));
  messages.push(successResult);
  expect(await collectMessages(live.turn(first))).toEqual([system("init"), successResult]);
  expect(live.isIdle).toBe(true);
  const second = collectMessages(live.turn(optionsFor("two")));
  messages.push(successResult);
  expect(await second).toEqual([successResult]);
  expect(sent).toEqual(["one", "two"]);
});

test.each([
  ["is not kept alive", { keepAlive: false }, successResult],
  ["failed", {}, message({ ...successResult, subtype: "error_during_execution", is_error: true })],
  ["ended in another session", {}, message({ ...successResult, session_id: "another" })],
])("ends the process after a turn that %s", async (_, more, lastWord) => {
  const first = optionsFor("one", more);
  const { live, messages, sent } = await open(first);
  messages.push(lastWord);
  messages.end();
  expect(await collectMessages(live.turn(first))).toEqual([lastWord]);
  expect(sent).toEqual(["one", "(finish)"]);
  expect(live.isIdle).toBe(false);
});

test.each([
  ["a hook's event", system("hook_response"), true],
  ["the state of its limits", message({ type: "rate_limit_event" }), true],
  ["the start of a turn", system("init"), false],
  ["lost writes of its session", system("session_writes_lost"), false],
  ["an unexpected answer", message({ type: "assistant" }), false],
])("handles %s between turns", async (_, unasked, isHarmless) => {
  const first = optionsFor("one");
  const { live, messages, sent } = await open(first);
  messages.push(successResult);
  await collectMessages(live.turn(first));
  messages.push(unasked);
  if (!isHarmless) await live.gone;
  await new Promise(setImmediate);
  expect(live.isIdle).toBe(isHarmless);
  expect(sent).toEqual(isHarmless ? ["one"] : ["one", "(stop)"]);
});

test("fails the turn when the stream breaks", async () => {
  const first = optionsFor("one");
  const { live, messages } = await open(first, new Error("the line broke"));
  const turn = collectMessages(live.turn(first));
  messages.end();
  await expect(turn).rejects.toThrow("the line broke");
  await live.gone;
});

test("stops a turn that is aborted before it starts", async () => {
  const stop = new AbortController();
  stop.abort();
  const first = optionsFor("one", { signal: stop.signal });
  const { live, messages, sent } = await open(first);
  messages.push(successResult);
  messages.end();
  await collectMessages(live.turn(first));
  expect(sent).toEqual(["(stop)", "one", "(finish)"]);
});

test("does not carry a late abort into the next turn", async () => {
  const stop = new AbortController();
  const first = optionsFor("one", { signal: stop.signal });
  const { live, messages, sent } = await open(first);
  messages.push(successResult);
  await collectMessages(live.turn(first));
  stop.abort();
  expect(sent).toEqual(["one"]);
  expect(live.isIdle).toBe(true);
});

test("ends a turn immediately when the process has exited meanwhile", async () => {
  const first = optionsFor("one");
  const { live, messages, sent } = await open(first);
  messages.push(successResult);
  await collectMessages(live.turn(first));
  await live.close();
  expect(await collectMessages(live.turn(optionsFor("two")))).toEqual([]);
  expect(sent).toEqual(["one", "(close)", "two"]);
});

test("asks the current turn's person about a tool and denies it between turns", async () => {
  const { signal } = new AbortController();
  const request = { tool: "Bash", toolUseId: "use-1", input: {} };
  const allow = { behavior: "allow" as const, updatedInput: {} };
  const first = optionsFor("one", { onPermission: async () => allow });
  const { live, messages, given } = await open(first);
  expect(await given.onPermission?.(request, signal)).toEqual(allow);
  messages.push(successResult);
  await collectMessages(live.turn(first));
  expect(await given.onPermission?.(request, signal)).toEqual({
    behavior: "deny",
    message: "There is no person to ask for permission.",
  });
});

test("repeats the container's warnings from the start in every turn", async () => {
  const seen: string[] = [];
  const observer = (turn: string) => ({
    onContainer: () => void seen.push(`${turn}: container`),
    onWarning: (text: string) => void seen.push(`${turn}: ${text}`),
  });
  const first = optionsFor("one", { observer: observer("first") });
  const { live, messages, given } = await open(first);
  given.observer?.onContainer?.({ id: "c1" });
  given.observer?.onWarning?.("mind this");
  messages.push(successResult);
  await collectMessages(live.turn(first));
  const second = collectMessages(live.turn(optionsFor("two", { observer: observer("second") })));
  messages.push(successResult);
  await second;
  expect(seen).toEqual([
    "first: container",
    "first: mind this",
    "second: container",
    "second: mind this",
  ]);
});

test("never treats a process on the host as outdated because of its surroundings", async () => {
  const { live } = await open(optionsFor("one"));
  expect(await live.isOutdated()).toBe(false);
  expect(await live.isUnusable()).toBe(false);
});
