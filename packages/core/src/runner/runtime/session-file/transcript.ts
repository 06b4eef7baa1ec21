import { addTokens, noTokens, type TokenUsage } from "../../../gateway/token-usage.ts";
import {
  blocksOf,
  readAnswer,
  readApiErrorStatus,
  readCost,
  readTurnLimit,
  type SessionCost,
  type TurnLimit,
} from "./details.ts";
import type { SessionLine } from "./line.ts";
import { roleOf, syntheticModel } from "./role.ts";

/** How the last turn stands. Only `finished` means that the model had its last word. */
export type TurnState = "none" | "open" | "finished" | "api_error" | "max_turns" | "interrupted";

/** What a session file says about its session. */
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
  /** Set when the limit of turns ended the last one. */
  turnLimit?: TurnLimit;
  openTools: string[];
  toolResults: number;
  /** Of the main conversation; subagents count in `usageByModel` only. */
  usage: TokenUsage;
  usageByModel: Record<string, TokenUsage>;
  /** Not `current` when the model spoke again since: then it lacks the latest spending. */
  cost?: SessionCost & { current: boolean };
  firstAt?: number;
  lastAt?: number;
}

export class TranscriptFold {
  private state: Omit<Transcript, "openTools" | "usage" | "usageByModel"> = {
    turn: "none",
    lastText: "",
    stopReason: null,
    toolResults: 0,
  };
  private readonly openTools = new Set<string>();
  /** The lines of one message, a line per block, each repeat its final usage. */
  private readonly spent = new Map<string, { model: string; usage: TokenUsage; main: boolean }>();

  add(line: SessionLine): void {
    this.identify(line);
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
    for (const one of this.spent.values()) {
      usageByModel[one.model] = addTokens(usageByModel[one.model] ?? noTokens, one.usage);
      if (one.main) usage = addTokens(usage, one.usage);
    }
    return { ...this.state, openTools: [...this.openTools], usage, usageByModel };
  }

  private identify({ sessionId, cwd, version, permissionMode, timestamp }: SessionLine): void {
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
    const message = readAnswer(line);
    if (message === undefined) return;
    const main = line.isSidechain !== true;
    if (message.usage && message.model !== syntheticModel) {
      this.spent.set(message.id, { model: message.model, usage: message.usage, main });
      if (this.state.cost) this.state.cost.current = false;
    }
    if (!main) return;
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
    const spoken = stopReason !== null && !unfinished.has(stopReason);
    return spoken && this.openTools.size === 0 ? "finished" : "open";
  }

  private addCost(line: SessionLine): void {
    const cost = readCost(line);
    if (cost !== undefined) this.state.cost = { ...cost, current: true };
  }
}

const unfinished: ReadonlySet<string> = new Set(["tool_use", "pause_turn"]);
