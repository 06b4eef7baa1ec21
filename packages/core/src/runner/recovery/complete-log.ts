import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { readSessionFile } from "../../claude/session-files/follow-session-file.ts";
import type { FileMessage } from "../../claude/session-files/message-types.ts";
import { SessionConverter } from "../../claude/session-files/session-converter.ts";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { openOutput, readOutput } from "../../store/files/output-log.ts";
import type { RunFacts } from "../contract/messages.ts";
import { addMessage, type Evidence, emptyEvidence } from "../execution/evidence.ts";
import type { Redactor } from "../execution/redactor.ts";
import { BackgroundTasks } from "../runtimes/claude-handle.ts";

interface CompleteLogInput {
  jobDir: string;
  sessionId: string;
  startedAt: Date;
  run: RunFacts;
  log: LogEvidence;
  redactor: Redactor;
}

/**
 * Claude keeps working for a while after its runner dies, and those messages are only in its
 * transcript. This appends them to the log, each message once, even if it is interrupted and repeated.
 */
export async function completeLog(input: CompleteLogInput): Promise<void> {
  const missing = await missingMessages(input);
  if (missing.length === 0) return;
  const output = await openOutput(input.jobDir);
  try {
    for (const message of missing) await output.append(input.redactor.redact(message));
    await output.sync();
  } finally {
    await output.close();
  }
}

async function missingMessages({
  sessionId,
  startedAt,
  run,
  log,
}: CompleteLogInput): Promise<FileMessage[]> {
  const file = findTranscript(run, sessionId);
  if (file === undefined) return [];
  const converter = new SessionConverter({ since: startedAt.getTime() });
  let missing: FileMessage[] = [];
  for await (const { line, subagent } of readSessionFile(file)) {
    for (const message of converter.convert(line, subagent)) {
      // Messages that precede a logged one but are missing from the log were never on stdout.
      if (log.uuids.has(message.uuid)) missing = [];
      else if (!isInit(message) || !log.evidence.init) missing.push(message);
    }
  }
  return [...missing, ...converter.finish().filter(({ uuid }) => !log.uuids.has(uuid))];
}

function isInit(message: FileMessage): boolean {
  return message.type === "system" && message.subtype === "init";
}

function findTranscript(
  { place, config_dir: configDir, cwd }: RunFacts,
  sessionId: string,
): string | undefined {
  try {
    return sessionFilePath({ place, configDir, cwd }, sessionId);
  } catch {
    // The folder is gone, and the transcript's path depends on it.
    return undefined;
  }
}

interface LogEvidence {
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
