import type { SDKMessage } from "@herdctl/core";
import type { Script } from "@herdctl/rehearsal";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import {
  executeOnRuntime,
  finalText,
  messagesOfType,
  type RuntimeUnderTest,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

const agentCall = {
  name: "Agent",
  input: {
    description: "look",
    prompt: "look around",
    subagent_type: "general-purpose",
    run_in_background: false,
  },
};
const bashCall = { name: "Bash", input: { command: "echo inner" } };

const script: Script = {
  rules: [
    { match: { from: "subagent" }, replies: [{ tools: [bashCall] }, "I am the subagent."] },
    { match: { prompt: "delegate" }, replies: [{ tools: [agentCall] }, "It is back."] },
  ],
};

/** How every runtime reports the messages of subagents. */
export function describeSubagentConformance(runtime: RuntimeUnderTest): void {
  test("labels a subagent's messages with the tool call that started it", async () => {
    const harness = await startHarness({ script });
    const { messages } = await executeOnRuntime(runtime, harness, { prompt: "delegate" });
    expect(finalText(messages)).toBe("It is back.");
    expect(toolResultTexts(messages).join()).toContain("I am the subagent.");
    const calls = toolCalls(messages);
    expect(calls.map(({ name }) => name)).toEqual(["Agent", "Bash"]);
    const [agent, bash] = calls;
    expect(agent?.parent).toBeNull();
    expect(bash?.parent).toBe(agent?.id);
    expect(parentOfResult(messages, bash?.id)).toBe(agent?.id);
    expect(parentOfResult(messages, agent?.id)).toBeNull();
  });
}

function toolCalls(messages: SDKMessage[]) {
  return messagesOfType(messages, "assistant").flatMap(({ message, parent_tool_use_id: parent }) =>
    message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, parent }] : [],
    ),
  );
}

/** Undefined if there is no result of this tool call. */
function parentOfResult(messages: SDKMessage[], id: string | undefined) {
  return messagesOfType(messages, "user").find(
    ({ message: { content } }) =>
      typeof content !== "string" &&
      content.some((block) => block.type === "tool_result" && block.tool_use_id === id),
  )?.parent_tool_use_id;
}
