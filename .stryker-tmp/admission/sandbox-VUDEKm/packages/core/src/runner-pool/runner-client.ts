import { EventEmitter } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Reply } from "@herdctl/protocol";
import { LineSplitter } from "../lib/line-splitter.ts";
import { findSocketPath } from "../lib/socket-path.ts";
import {
  type ApprovalRequestMessage,
  type ApprovalWithdrawnMessage,
  maxMessageBytes,
  parseRunnerMessage,
  type RunnerCommand,
  type RunnerMessage,
  type SpendingMessage,
  type ToolCallRequest,
} from "../runner/contract/messages.ts";
import { runnerSocketPath } from "../runner/contract/paths.ts";
import type { SpendLimit } from "../runner/contract/spend-limit.ts";
import type { ToolCallAnswer } from "../store/model/tool-call.ts";

export interface RunnerClientEvents {
  approval: [request: ApprovalRequestMessage];
  /** The request needs no answer any more. Also sent to the connection that answered it. */
  withdrawn: [withdrawn: ApprovalWithdrawnMessage];
  tool_call: [request: ToolCallRequest];
  toolCallWithdrawn: [requestId: string];
  spending: [spent: SpendingMessage];
  /** The runner ended and left its outcome, or it died, or this side closed the connection. */
  closed: [];
}

/**
 * A connection to a live runner. The runner repeats open requests to every new connection, so
 * listeners must be added synchronously.
 */
export class RunnerClient extends EventEmitter<RunnerClientEvents> {
  constructor(private readonly socket: Socket) {
    super();
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.emit("closed"));
    const reader = new LineSplitter(0, maxMessageBytes);
    socket.on("data", (chunk) => {
      for (const line of reader.pushText(chunk)) {
        const message = parseRunnerMessage(line);
        if (message) this.dispatch(message);
      }
      if (reader.isOverLimit) socket.destroy();
    });
  }

  stop(reason: "cancelled" | "interrupted", force: boolean): void {
    this.send({ type: "stop", reason, force });
  }

  answer(request_id: string, behavior: "allow" | "deny", message = ""): void {
    this.send({ type: "answer", request_id, behavior, message });
  }

  reply(request_id: string, reply: Reply): void {
    const behavior = reply.kind === "none" ? "deny" : "allow";
    this.send({ type: "answer", request_id, behavior, message: "", reply });
  }

  answerToolCall(request_id: string, answer: ToolCallAnswer): void {
    this.send({ type: "tool_call_answer", request_id, answer });
  }

  setSpendLimits(limits: readonly SpendLimit[]): void {
    this.send({ type: "spend_limits", limits: [...limits] });
  }

  close(): void {
    this.socket.destroySoon();
  }

  private dispatch(message: RunnerMessage): void {
    if (message.type === "approval") this.emit("approval", message);
    if (message.type === "approval_withdrawn") this.emit("withdrawn", message);
    if (message.type === "tool_call") this.emit("tool_call", message);
    if (message.type === "tool_call_withdrawn") this.emit("toolCallWithdrawn", message.request_id);
    if (message.type === "spending") this.emit("spending", message);
  }

  private send(line: RunnerCommand): void {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(line)}\n`);
  }
}

export interface ConnectOptions {
  /** How long a runner may take to start listening. */
  timeoutMs?: number;
  signal?: AbortSignal;
}

const pollIntervalMs = 10;

/** Rejects if no runner listens in time: it never started, or has already ended. */
export async function connectToRunner(
  jobDir: string,
  { timeoutMs = 2_000, signal }: ConnectOptions = {},
): Promise<RunnerClient> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return new RunnerClient(await connect(findSocketPath(runnerSocketPath(jobDir))));
    } catch (error) {
      signal?.throwIfAborted();
      if (Date.now() >= deadline) throw error;
    }
    await delay(pollIntervalMs, undefined, { signal });
  }
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
