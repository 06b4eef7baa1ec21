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
  const fold = new LogFold(denialsFrom);
  for await (const { message } of readOutput(file, { from })) fold.add(message);
  return fold.seen;
}

/** The same, message by message, wherever they are kept. */
export class LogFold {
  private readonly tasks = new BackgroundTasks();
  private readonly uuids = new Set<string>();
  private evidence = noEvidence();
  private hadLastWord = false;

  constructor(private readonly denialsFrom: "result" | "tools") {}

  get seen(): LogEvidence {
    const { evidence, uuids, hadLastWord } = this;
    return { evidence, uuids, hadLastWord };
  }

  add(logged: Record<string, unknown>): void {
    // The edge: the log holds what claude said.
    const message = logged as SDKMessage;
    if (typeof logged.uuid === "string") this.uuids.add(logged.uuid);
    this.evidence = addMessage(this.evidence, message);
    if (this.evidence.init && this.denialsFrom === "tools") {
      this.evidence = { ...this.evidence, init: { ...this.evidence.init, synthesised: true } };
    }
    if (this.tasks.isLastWord(message)) this.hadLastWord = true;
    else if (goesOn(message)) this.hadLastWord = false;
  }
}

function goesOn(message: SDKMessage): boolean {
  const isInit = message.type === "system" && message.subtype === "init";
  return isInit || message.type === "assistant" || message.type === "user";
}
