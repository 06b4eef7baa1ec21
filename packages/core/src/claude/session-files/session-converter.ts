import { createHash } from "node:crypto";
import type { FileMessage } from "./message-types.ts";
import type { SessionLine } from "./session-line.ts";
import { roleOf } from "./session-line.ts";
import type { Subagent } from "./subagent-files.ts";
import { synthesiseResult } from "./synthesise-result.ts";
import { toMessage } from "./to-message.ts";
import { type Transcript, TranscriptBuilder } from "./transcript.ts";

interface ConversionOptions {
  /** Skip older lines: a fork copies the lines of its parent, including uuids and times. */
  since?: number;
  /** The configured model; the file only contains the model after its first answer. */
  model?: string;
}

/** Converts the lines of a session file to the messages that stdout has for the same run. */
export class SessionConverter {
  /** Number of lines of unknown types, by type. */
  readonly unknown: Record<string, number> = {};
  private readonly builder = new TranscriptBuilder();
  private hasInit = false;

  constructor(private readonly options: ConversionOptions = {}) {}

  convert(line: SessionLine, subagent?: Subagent): FileMessage[] {
    if (this.isHistory(line)) return [];
    this.builder.add(line);
    const role = roleOf(line);
    if (role === "unknown") this.unknown[line.type] = (this.unknown[line.type] ?? 0) + 1;
    const message = toMessage(role, line, subagent);
    return [...this.init(line), ...(message ? [message] : [])];
  }

  /** The result; call after the last line. Empty for an unfinished turn. */
  finish(): FileMessage[] {
    const transcript = this.transcript();
    const result = synthesiseResult(transcript, synthesisedUuid(transcript, "result"));
    return result ? [result] : [];
  }

  transcript(): Transcript {
    return this.builder.transcript();
  }

  private isHistory({ timestamp }: SessionLine): boolean {
    const { since } = this.options;
    return since !== undefined && timestamp !== undefined && Date.parse(timestamp) < since;
  }

  private init(line: SessionLine): FileMessage[] {
    const { sessionId, cwd, version, permissionMode } = line;
    if (this.hasInit || sessionId === undefined || cwd === undefined) return [];
    this.hasInit = true;
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

/** Deterministic for a file, so that a repeated recovery adds nothing. */
function synthesisedUuid(transcript: Transcript, kind: "init" | "result"): string {
  const { sessionId, firstAt, lastUuid } = transcript;
  const seed = kind === "init" ? firstAt : lastUuid;
  const hex = createHash("sha256").update(`${sessionId} ${kind} ${seed}`).digest("hex");
  const part = (from: number, to: number) => hex.slice(from, to);
  return `${part(0, 8)}-${part(8, 12)}-8${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`;
}
