import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { readOutput } from "../../store/files/output-reader.ts";
import { addMessage, type Evidence, emptyEvidence } from "../execution/evidence.ts";
import { BackgroundTasks } from "../runtimes/background-tasks.ts";

export interface LogEvidence {
  evidence: Evidence;
  /** The uuids of all logged messages that have one. */
  uuids: Set<string>;
  /** The last message ended the run. */
  hasFinalMessage: boolean;
}

/**
 * Reads the evidence of an attempt from its log. Denials are listed in claude's result; if that is
 * missing, they are read from the tool results, as for a session file.
 */
export async function readLogEvidence(
  file: string,
  from: number,
  denialsFrom: "result" | "tools",
): Promise<LogEvidence> {
  const collector = new LogEvidenceCollector(denialsFrom);
  for await (const { message } of readOutput(file, { from })) collector.add(message);
  return collector.result;
}

/** Collects evidence message by message, for any source. */
export class LogEvidenceCollector {
  private readonly tasks = new BackgroundTasks();
  private readonly uuids = new Set<string>();
  private evidence = emptyEvidence();
  private hasFinalMessage = false;

  constructor(private readonly denialsFrom: "result" | "tools") {}

  get result(): LogEvidence {
    const { evidence, uuids, hasFinalMessage } = this;
    return { evidence, uuids, hasFinalMessage };
  }

  add(record: Record<string, unknown>): void {
    // Not validated: the log contains claude's messages.
    const message = record as SDKMessage;
    if (typeof record.uuid === "string") this.uuids.add(record.uuid);
    this.evidence = addMessage(this.evidence, message);
    if (this.evidence.init && this.denialsFrom === "tools") {
      this.evidence = { ...this.evidence, init: { ...this.evidence.init, isSynthesised: true } };
    }
    if (this.tasks.isFinalMessage(message)) this.hasFinalMessage = true;
    else if (continuesRun(message)) this.hasFinalMessage = false;
  }
}

function continuesRun(message: SDKMessage): boolean {
  const isInit = message.type === "system" && message.subtype === "init";
  return isInit || message.type === "assistant" || message.type === "user";
}
