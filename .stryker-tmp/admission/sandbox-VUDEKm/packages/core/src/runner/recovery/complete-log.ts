import { readSessionFile } from "../../claude/session-files/follow-session-file.ts";
import type { FileMessage } from "../../claude/session-files/message-types.ts";
import { SessionConverter } from "../../claude/session-files/session-converter.ts";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { openOutput } from "../../store/files/output-writer.ts";
import type { RunFacts } from "../contract/messages.ts";
import type { Redactor } from "../execution/redactor.ts";
import type { LogEvidence } from "./log-evidence.ts";

export interface CompleteLogInput {
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
