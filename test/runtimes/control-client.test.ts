import { PassThrough } from "node:stream";
import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import type { PermissionRequest } from "../../packages/core/src/runner/contract/messages.ts";
import { buildUserMessage } from "../../packages/core/src/runner/runtimes/claude-handle.ts";
import { ControlClient } from "../../packages/core/src/runner/runtimes/control-client.ts";
import { McpBridges } from "../../packages/core/src/runner/runtimes/mcp/bridges.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

type OnPermission = ConstructorParameters<typeof McpBridges>[0]["onPermission"];

/** The control client and the two ends of claude's pipes. */
function client(onPermission?: OnPermission) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const agent = agentOf(loadTestFleet(inlineAgent("model: opus")), "one");
  const exited = new Promise<never>(() => undefined);
  const process = { pid: undefined, stderr: new PassThrough(), exited, kill: () => undefined };
  const ours = new ControlClient(
    { ...process, stdin, stdout },
    new McpBridges({ agent, env: {}, onPermission }),
  );
  return {
    client: ours,
    stdin,
    say: (line: unknown) =>
      stdout.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`),
    hangUp: () => stdout.end(),
    written: async () => {
      for (let turn = 0; turn < 5; turn++) await soon();
      const text = String(stdin.read() ?? "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
  };
}

const controlRequest = (request: object, request_id = "r1") => ({
  type: "control_request",
  request_id,
  request,
});
const bash = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" } };

test("skips control messages and keeps unknown messages", async () => {
  const { client: ours, say, hangUp } = client();
  for (const line of ["not JSON", "7", "null", "{}", '{"type":7}']) say(line);
  say({ type: "keep_alive" });
  say({ type: "control_response", response: {} });
  say({ type: "of_a_later_version", told: true });
  hangUp();
  const messages = [];
  for await (const message of ours.messages) messages.push(message);
  expect(messages).toEqual([{ type: "of_a_later_version", told: true }]);
});

test.each([
  ["of an unknown kind", { subtype: "sing" }, "herdctl does not support `sing`"],
  [
    "for a server that the run does not have",
    {
      subtype: "mcp_message",
      server_name: "gone",
      message: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    },
    "herdctl does not support `mcp_message`",
  ],
])(
  "answers a request %s with an error, so that claude does not wait",
  async (_, request, error) => {
    const { say, written } = client();
    say(controlRequest(request));
    expect(await written()).toEqual([
      { type: "control_response", response: { request_id: "r1", subtype: "error", error } },
    ]);
  },
);

test("does not answer a request without an id", async () => {
  const { say, written } = client();
  say({ type: "control_request", request: bash });
  expect(await written()).toEqual([]);
});

test("denies the tool when there is no one to ask", async () => {
  const { say, written } = client();
  say(controlRequest(bash));
  const response = { behavior: "deny", message: "There is no person to ask for permission." };
  expect(await written()).toMatchObject([{ response: { subtype: "success", response } }]);
});

test("passes the call unchanged to the person, identified by the request's id if it has no other", async () => {
  const asked: PermissionRequest[] = [];
  const { say, written } = client(async (request) => {
    asked.push(request);
    return { behavior: "allow", updatedInput: request.input };
  });
  say(controlRequest(bash, "r1"));
  say(controlRequest({ ...bash, tool_use_id: "use-1", description: "List files" }, "r2"));
  expect(await written()).toHaveLength(2);
  const call = { tool: "Bash", input: bash.input, suggestedRules: [] };
  expect(asked).toEqual([
    { ...call, toolUseId: "r1", description: undefined },
    { ...call, toolUseId: "use-1", description: "List files" },
  ]);
});

test("withdraws exactly the question that claude takes back", async () => {
  const signals: AbortSignal[] = [];
  const { say, written } = client((_, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  say(controlRequest(bash, "r1"));
  say(controlRequest(bash, "r2"));
  say({ type: "control_cancel_request" });
  say({ type: "control_cancel_request", request_id: "r3" });
  say({ type: "control_cancel_request", request_id: "r2" });
  expect(await written()).toEqual([]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});

test("sends nothing to a claude that has closed its input", async () => {
  const { client: ours, stdin, written } = client();
  ours.sendMessage(buildUserMessage({ prompt: "first", expandsReferences: true }));
  ours.close();
  ours.interrupt();
  expect(stdin.writable).toBe(false);
  expect(await written()).toMatchObject([{ type: "user", message: { content: "first" } }]);
});
