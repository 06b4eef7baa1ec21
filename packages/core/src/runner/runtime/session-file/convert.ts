import { createHash } from "node:crypto";
import type { SessionLine } from "./line.ts";
import type { FileMessage } from "./message.ts";
import { synthesiseResult } from "./result.ts";
import { roleOf } from "./role.ts";
import type { Subagent } from "./subagents.ts";
import { messageOf } from "./to-message.ts";
import { type Transcript, TranscriptFold } from "./transcript.ts";

export interface ConversionOptions {
  /** Older lines are history: a fork copies the lines of its parent, uuids and times included. */
  since?: number;
  /** The model asked for: the file names it only when it has answered. */
  model?: string;
}

/** Turns the lines of a session file into the messages that stdout gives for the same run. */
export class SessionConverter {
  /** Lines whose type we do not know, by type. */
  readonly unknown: Record<string, number> = {};
  private readonly fold = new TranscriptFold();
  private begun = false;

  constructor(private readonly options: ConversionOptions = {}) {}

  convert(line: SessionLine, subagent?: Subagent): FileMessage[] {
    if (this.isHistory(line)) return [];
    this.fold.add(line);
    const role = roleOf(line);
    if (role === "unknown") this.unknown[line.type] = (this.unknown[line.type] ?? 0) + 1;
    const message = messageOf(role, line, subagent);
    return [...this.init(line), ...(message ? [message] : [])];
  }

  /** The result, when no more lines will come. None for a turn that nobody brought to an end. */
  finish(): FileMessage[] {
    const transcript = this.transcript();
    const result = synthesiseResult(transcript, synthesisedUuid(transcript, "result"));
    return result ? [result] : [];
  }

  transcript(): Transcript {
    return this.fold.transcript();
  }

  private isHistory({ timestamp }: SessionLine): boolean {
    const { since } = this.options;
    return since !== undefined && timestamp !== undefined && Date.parse(timestamp) < since;
  }

  private init(line: SessionLine): FileMessage[] {
    const { sessionId, cwd, version, permissionMode } = line;
    if (this.begun || sessionId === undefined || cwd === undefined) return [];
    this.begun = true;
    const transcript = this.transcript();
    return [
      {
        type: "system",
        subtype: "init",
        herdctl_synthesised: true,
        uuid: synthesisedUuid(transcript, "init"),
        session_id: sessionId,
        cwd,
        claude_code_version: version,
        model: transcript.model ?? this.options.model,
        permissionMode,
      },
    ];
  }
}

/** The same file always gives the same uuid, so that a recovery that runs twice adds nothing. */
function synthesisedUuid(transcript: Transcript, kind: "init" | "result"): string {
  const { sessionId, firstAt, lastUuid } = transcript;
  const seed = kind === "init" ? firstAt : lastUuid;
  const hex = createHash("sha256").update(`${sessionId} ${kind} ${seed}`).digest("hex");
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}
