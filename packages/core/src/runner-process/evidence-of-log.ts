import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { addMessage, type Evidence, noEvidence } from "../runner/evidence.ts";
import { BackgroundTasks } from "../runner/runtime/background-tasks.ts";
import { readOutput } from "../state/output-reader.ts";

export interface LogEvidence {
  evidence: Evidence;
  /** Every message that is known by one. */
  uuids: Set<string>;
  /** Nothing more was to come. */
  hadLastWord: boolean;
}

/**
 * What the log tells of an attempt. Denials stand in the result that claude writes; where that is
 * missing they are read from the tools' own results, as of a session file.
 */
export async function evidenceOfLog(
  file: string,
  from: number,
  denialsFrom: "result" | "tools",
): Promise<LogEvidence> {
  const tasks = new BackgroundTasks();
  const uuids = new Set<string>();
  let evidence = noEvidence();
  let hadLastWord = false;
  for await (const line of readOutput(file, { from })) {
    // The edge: the log holds what claude said.
    const message = line.message as SDKMessage;
    if (typeof line.message.uuid === "string") uuids.add(line.message.uuid);
    evidence = addMessage(evidence, message);
    if (evidence.init && denialsFrom === "tools") {
      evidence = { ...evidence, init: { ...evidence.init, synthesised: true } };
    }
    if (tasks.isLastWord(message)) hadLastWord = true;
    else if (goesOn(message)) hadLastWord = false;
  }
  return { evidence, uuids, hadLastWord };
}

function goesOn(message: SDKMessage): boolean {
  const isInit = message.type === "system" && message.subtype === "init";
  return isInit || message.type === "assistant" || message.type === "user";
}
