import { PassThrough } from "node:stream";
import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import { ControlClient } from "../../packages/core/src/runner/runtime/control-client.ts";
import { Bridges } from "../../packages/core/src/runner/runtime/mcp/bridges.ts";
import type { PermissionRequest } from "../../packages/core/src/runner/runtime/permission.ts";
import { userMessage } from "../../packages/core/src/runner/runtime/user-message.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

type OnPermission = ConstructorParameters<typeof Bridges>[0]["onPermission"];

/** Our side of the protocol, and the two ends of the pipes that a `claude` would hold. */
function client(onPermission?: OnPermission) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const agent = agentOf(load(inlineAgent("model: opus")), "one");
  const exited = new Promise<never>(() => undefined);
  const process = { pid: undefined, stderr: new PassThrough(), exited, kill: () => undefined };
  const ours = new ControlClient(
    { ...process, stdin, stdout },
    new Bridges({ agent, env: {}, onPermission }),
  );
  return {
    client: ours,
    stdin,
    say: (line: unknown) =>
      stdout.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`),
    hangUp: () => stdout.end(),
    heard: async () => {
      for (let turn = 0; turn < 5; turn++) await soon();
      const text = String(stdin.read() ?? "");
      return text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
  };
}

const asking = (request: object, request_id = "r1") => ({
  type: "control_request",
  request_id,
  request,
});
const bash = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" } };

test("what is no message of the run is passed over, and what this version does not know is not", async () => {
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
  ["that nobody knows", { subtype: "sing" }, "herdctl does not answer `sing`"],
  [
    "for a server that the run does not have",
    {
      subtype: "mcp_message",
      server_name: "gone",
      message: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    },
    "herdctl does not answer `mcp_message`",
  ],
])(
  "a request %s is answered with an error, so that claude does not wait",
  async (_, request, error) => {
    const { say, heard } = client();
    say(asking(request));
    expect(await heard()).toEqual([
      { type: "control_response", response: { request_id: "r1", subtype: "error", error } },
    ]);
  },
);

test("a request without an id cannot be answered, and is not", async () => {
  const { say, heard } = client();
  say({ type: "control_request", request: bash });
  expect(await heard()).toEqual([]);
});

test("where nobody can be asked, the tool is denied", async () => {
  const { say, heard } = client();
  say(asking(bash));
  const response = { behavior: "deny", message: "Nobody can be asked for permission." };
  expect(await heard()).toMatchObject([{ response: { subtype: "success", response } }]);
});

test("who is asked gets the call as it was made, by the request's id where it has no other", async () => {
  const asked: PermissionRequest[] = [];
  const { say, heard } = client(async (request) => {
    asked.push(request);
    return { behavior: "allow", updatedInput: request.input };
  });
  say(asking(bash, "r1"));
  say(asking({ ...bash, tool_use_id: "use-1", description: "List files" }, "r2"));
  expect(await heard()).toHaveLength(2);
  const call = { tool: "Bash", input: bash.input };
  expect(asked).toEqual([
    { ...call, toolUseId: "r1", description: undefined },
    { ...call, toolUseId: "use-1", description: "List files" },
  ]);
});

test("a question that claude takes back is taken back from whoever was asked, and no other is", async () => {
  const signals: AbortSignal[] = [];
  const { say, heard } = client((_, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  say(asking(bash, "r1"));
  say(asking(bash, "r2"));
  say({ type: "control_cancel_request" });
  say({ type: "control_cancel_request", request_id: "r3" });
  say({ type: "control_cancel_request", request_id: "r2" });
  expect(await heard()).toEqual([]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
});

test("to a claude that no longer listens nothing is said", async () => {
  const { client: ours, stdin, heard } = client();
  ours.say(userMessage({ prompt: "first", expand: true }));
  ours.close();
  ours.interrupt();
  expect(stdin.writable).toBe(false);
  expect(await heard()).toMatchObject([{ type: "user", message: { content: "first" } }]);
});
