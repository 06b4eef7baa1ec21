import { addTokens, noTokens, type TokenUsage } from "../token-usage.ts";
import type { SkippedLine } from "./file-cursor.ts";
import { readSessionFile } from "./follow-session-file.ts";
import {
  blocksOf,
  readApiErrorStatus,
  readAssistantMessage,
  readCost,
  readTurnLimit,
  type SessionCost,
  type TurnLimit,
} from "./line-fields.ts";
import { roleOf, syntheticModel } from "./line-role.ts";
import type { SessionLine, SkipReason } from "./session-line.ts";

/** State of the last turn. Only `finished` means that the model completed its answer. */
export type TurnState = "none" | "open" | "finished" | "api_error" | "max_turns" | "interrupted";

/** Facts about a session from its file. */
export interface Transcript {
  sessionId?: string;
  cwd?: string;
  version?: string;
  model?: string;
  permissionMode?: string;
  turn: TurnState;
  /** The last line that is part of the conversation. */
  lastUuid?: string;
  lastText: string;
  stopReason: string | null;
  apiErrorStatus?: number;
  /** Set if the last turn ended because of the turn limit. */
  turnLimit?: TurnLimit;
  openTools: string[];
  toolResults: number;
  /** Usage of the main conversation; subagents only count in `usageByModel`. */
  usage: TokenUsage;
  usageByModel: Record<string, TokenUsage>;
  /** Not `current` if the model answered again since; the latest spending is then missing. */
  cost?: SessionCost & { current: boolean };
  firstAt?: number;
  lastAt?: number;
}

export class TranscriptBuilder {
  private state: Omit<Transcript, "openTools" | "usage" | "usageByModel"> = {
    turn: "none",
    lastText: "",
    stopReason: null,
    toolResults: 0,
  };
  private readonly openTools = new Set<string>();
  /** By message id, because each line of a message (one per block) repeats its final usage. */
  private readonly usageByMessage = new Map<
    string,
    { model: string; usage: TokenUsage; isMain: boolean }
  >();

  add(line: SessionLine): void {
    this.readSessionFields(line);
    const role = roleOf(line);
    if (role === "assistant") this.addAssistant(line);
    if (line.isSidechain) return;
    if (role === "cost") this.addCost(line);
    if (role === "max_turns") this.endTurn("max_turns", line);
    if (role === "interruption") this.endTurn("interrupted", line);
    if (role === "command_output") this.endTurn("finished", line);
    if (role === "tool_result") this.addToolResults(line);
    if (role === "prompt") this.beginTurn(line);
  }

  transcript(): Transcript {
    const usageByModel: Record<string, TokenUsage> = {};
    let usage = noTokens;
    for (const message of this.usageByMessage.values()) {
      const { model } = message;
      usageByModel[model] = addTokens(usageByModel[model] ?? noTokens, message.usage);
      if (message.isMain) usage = addTokens(usage, message.usage);
    }
    return { ...this.state, openTools: [...this.openTools], usage, usageByModel };
  }

  private readSessionFields({
    sessionId,
    cwd,
    version,
    permissionMode,
    timestamp,
  }: SessionLine): void {
    const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
    this.state.sessionId ??= sessionId;
    this.state.cwd ??= cwd;
    this.state.version = version ?? this.state.version;
    this.state.permissionMode = permissionMode ?? this.state.permissionMode;
    if (Number.isNaN(at)) return;
    this.state.firstAt ??= at;
    this.state.lastAt = Math.max(at, this.state.lastAt ?? at);
  }

  private beginTurn(line: SessionLine): void {
    this.openTools.clear();
    Object.assign(this.state, {
      turn: "open",
      lastText: "",
      stopReason: null,
      lastUuid: line.uuid,
    });
    this.state.apiErrorStatus = undefined;
    this.state.turnLimit = undefined;
  }

  private endTurn(turn: TurnState, line: SessionLine): void {
    this.openTools.clear();
    this.state.turn = turn;
    this.state.lastUuid = line.uuid ?? this.state.lastUuid;
    this.state.turnLimit = readTurnLimit(line);
  }

  private addToolResults(line: SessionLine): void {
    this.state.lastUuid = line.uuid;
    for (const block of blocksOf(line.message, "tool_result")) {
      this.openTools.delete(String(block.tool_use_id));
      this.state.toolResults += 1;
    }
  }

  private addAssistant(line: SessionLine): void {
    const message = readAssistantMessage(line);
    if (message === undefined) return;
    const isMain = line.isSidechain !== true;
    if (message.usage && message.model !== syntheticModel) {
      this.usageByMessage.set(message.id, { model: message.model, usage: message.usage, isMain });
      if (this.state.cost) this.state.cost.current = false;
    }
    if (!isMain) return;
    if (message.model !== syntheticModel) this.state.model = message.model;
    this.state.lastUuid = line.uuid;
    this.state.stopReason = message.stop_reason;
    for (const block of blocksOf(line.message, "text")) this.state.lastText = String(block.text);
    for (const block of blocksOf(line.message, "tool_use")) this.openTools.add(String(block.id));
    this.state.apiErrorStatus = readApiErrorStatus(line);
    this.state.turn = this.turnAfter(line, message.stop_reason);
  }

  private turnAfter(line: SessionLine, stopReason: string | null): TurnState {
    if (line.isApiErrorMessage === true) return "api_error";
    const isEndOfTurn = stopReason !== null && !unfinishedStopReasons.has(stopReason);
    return isEndOfTurn && this.openTools.size === 0 ? "finished" : "open";
  }

  private addCost(line: SessionLine): void {
    const cost = readCost(line);
    if (cost !== undefined) this.state.cost = { ...cost, current: true };
  }
}

const unfinishedStopReasons: ReadonlySet<string> = new Set(["tool_use", "pause_turn"]);

/** Reads the transcript of a session file, optionally only the lines before a point in time. */
export async function readTranscript(
  file: string,
  before?: Date,
): Promise<Transcript & { skipped: Partial<Record<SkipReason, number>> }> {
  const skipped: Partial<Record<SkipReason, number>> = {};
  const onSkipped = ({ reason }: SkippedLine) => {
    skipped[reason] = (skipped[reason] ?? 0) + 1;
  };
  const builder = new TranscriptBuilder();
  for await (const { line } of readSessionFile(file, { onSkipped })) {
    if (before && line.timestamp && Date.parse(line.timestamp) >= before.getTime()) break;
    builder.add(line);
  }
  return { ...builder.transcript(), skipped };
}
