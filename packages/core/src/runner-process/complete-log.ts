import type { Redactor } from "../runner/redactor.ts";
import { SessionConverter } from "../runner/runtime/session-file/convert.ts";
import { readSessionFile } from "../runner/runtime/session-file/follow.ts";
import type { FileMessage } from "../runner/runtime/session-file/message.ts";
import { sessionFilePath } from "../runner/runtime/session-file/path.ts";
import { openOutput } from "../state/output-writer.ts";
import type { RunFacts } from "./contract.ts";
import type { LogEvidence } from "./evidence-of-log.ts";

export interface LogGap {
  jobDir: string;
  sessionId: string;
  startedAt: Date;
  run: RunFacts;
  log: LogEvidence;
  redactor: Redactor;
}

/**
 * Claude goes on for a while when its runner dies, and what it says then is in its transcript only.
 * That is added to the log, each message once: done again after another death, it adds the rest.
 */
export async function completeLog(gap: LogGap): Promise<void> {
  const missing = await missingMessages(gap);
  if (missing.length === 0) return;
  const output = await openOutput(gap.jobDir);
  try {
    for (const message of missing) await output.append(gap.redactor.redact(message));
    await output.sync();
  } finally {
    await output.close();
  }
}

async function missingMessages({ sessionId, startedAt, run, log }: LogGap): Promise<FileMessage[]> {
  const file = transcriptOf(run, sessionId);
  if (file === undefined) return [];
  const converter = new SessionConverter({ since: startedAt.getTime() });
  let missing: FileMessage[] = [];
  for await (const { line, subagent } of readSessionFile(file)) {
    for (const message of converter.convert(line, subagent)) {
      // What stands before a message of the log and is not in it itself was never on stdout.
      if (log.uuids.has(message.uuid)) missing = [];
      else if (!isInit(message) || !log.evidence.init) missing.push(message);
    }
  }
  return [...missing, ...converter.finish().filter(({ uuid }) => !log.uuids.has(uuid))];
}

function isInit(message: FileMessage): boolean {
  return message.type === "system" && message.subtype === "init";
}

function transcriptOf(
  { place, config_dir: configDir, cwd }: RunFacts,
  sessionId: string,
): string | undefined {
  try {
    return sessionFilePath({ place, configDir, cwd }, sessionId);
  } catch {
    // The folder is gone, and with it the way to the transcript's name.
    return undefined;
  }
}
