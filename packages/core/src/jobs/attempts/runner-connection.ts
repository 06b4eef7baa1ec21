import { EventEmitter } from "node:events";
import { stat } from "node:fs/promises";
import { createConnection, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import {
  ActivityTracker,
  type ClaudeMessage,
  type Job,
  type Question,
  type Reply,
  type ToolRule,
  toJobEvents,
} from "@herdctl/protocol";
import { LineSplitter } from "../../lib/line-splitter.ts";
import { findSocketPath } from "../../lib/socket-path.ts";
import { waitForAbort } from "../../lib/timeout.ts";
import {
  type ApprovalRequestMessage,
  type ApprovalWithdrawnMessage,
  maxMessageBytes,
  type PermissionAnswer,
  parseRunnerMessage,
  type RunnerCommand,
  type RunnerMessage,
  type SpendingMessage,
  type ToolCallRequest,
} from "../../runner/contract/messages.ts";
import { runnerSocketPath } from "../../runner/contract/paths.ts";
import type { SpendAmount, SpendLimit } from "../../runner/contract/run-order.ts";
import type { RunReport } from "../../runner/contract/run-report.ts";
import { readReport } from "../../runner/recovery/collect-report.ts";
import { readOutput } from "../../store/files/output-log.ts";
import type { ToolCallAnswer } from "../../store/model/tool-call.ts";
import type { JobServices, StopReason } from "../services.ts";
import type { ApprovalRequests } from "./approval-requests.ts";

/** Resolves with undefined if this fleet process has no answer. */
type HandleToolCall = (
  request: ToolCallRequest,
  signal: AbortSignal,
) => Promise<ToolCallAnswer | undefined>;

const connectTimeoutMs = 200;

/**
 * The fleet's connection to a runner. It receives questions and tool calls, and sends answers and
 * stop requests.
 */
export class RunnerConnection {
  private readonly closing = new AbortController();
  private readonly openRequests = new Map<string, AbortController>();
  private readonly pendingWork = new Set<Promise<void>>();
  private readonly connecting: Promise<void>;
  private resolveReport: (report: RunReport) => void = () => undefined;
  /** Resolves when the runner has written its outcome, which it may do without exiting. */
  readonly reported = new Promise<RunReport>((resolve) => {
    this.resolveReport = resolve;
  });
  private client: RunnerClient | undefined;
  private limits: readonly SpendLimit[] | undefined;
  private stopRequest: { reason: StopReason; force: boolean } | undefined;

  constructor(
    private readonly run: { jobDir: string; attempt: number },
    private readonly approvals: ApprovalRequests,
    private readonly handleToolCall: HandleToolCall,
    private readonly onError: (error: unknown) => void,
    private readonly onSpending: (spent: SpendAmount) => void = () => undefined,
  ) {
    this.connecting = this.connect();
  }

  stop(reason: StopReason, force: boolean): void {
    this.stopRequest = { reason, force };
    this.client?.stop(reason, force);
  }

  /** A runner that reconnects gets the limits again. */
  setSpendLimits(limits: readonly SpendLimit[]): void {
    this.limits = limits;
    this.client?.setSpendLimits(limits);
  }

  /** Resolves when no request of this run is pending. */
  async close(): Promise<void> {
    this.closing.abort();
    for (const request of this.openRequests.values()) request.abort();
    await this.connecting;
    await Promise.all(this.pendingWork);
  }

  /**
   * A runner listens shortly after it starts, and closes the connection once its outcome is in the
   * job's folder. Without an outcome the connection was lost, and is opened again.
   */
  private async connect(): Promise<void> {
    const { jobDir, attempt } = this.run;
    const { signal } = this.closing;
    while (!signal.aborted) {
      const client = await connectToRunner(jobDir, { timeoutMs: connectTimeoutMs, signal }).catch(
        () => undefined,
      );
      if (client) await this.serveClient(client);
      const report = await readReport(jobDir, attempt).catch(() => undefined);
      if (report) return this.resolveReport(report);
    }
  }

  /** Resolves when the connection is closed. */
  private async serveClient(client: RunnerClient): Promise<void> {
    this.client = client;
    client.on("approval", (request) =>
      this.handleOnce(request.request_id, () => this.handleApproval(request)),
    );
    client.on("tool_call", (request) =>
      this.handleOnce(request.request_id, () => this.answerToolCall(request)),
    );
    client.on("toolCallWithdrawn", (id) => this.openRequests.get(id)?.abort());
    client.on("withdrawn", ({ request_id }) => this.openRequests.get(request_id)?.abort());
    client.on("spending", ({ attempt, usd, tokens }) => {
      if (attempt === this.run.attempt) this.onSpending({ usd, tokens });
    });
    if (this.limits) client.setSpendLimits(this.limits);
    if (this.stopRequest) client.stop(this.stopRequest.reason, this.stopRequest.force);
    const closed = new Promise<void>((resolve) => client.once("closed", resolve));
    const { signal } = this.closing;
    if (!signal.aborted) await Promise.race([closed, waitForAbort(signal)]);
    client.close();
    this.client = undefined;
  }

  /** A runner that reconnects sends its open requests again. */
  private handleOnce(requestId: string, work: () => Promise<void>): void {
    if (this.openRequests.has(requestId)) return;
    this.trackWork(work());
  }

  private trackWork(work: Promise<void>): void {
    const settled = work.catch(this.onError).finally(() => this.pendingWork.delete(settled));
    this.pendingWork.add(settled);
  }

  private async handleApproval(request: ApprovalRequestMessage): Promise<void> {
    const { request_id } = request;
    const withdrawn = new AbortController();
    this.openRequests.set(request_id, withdrawn);
    try {
      if (request.question)
        await this.forwardQuestion({ ...request, ...request.question }, withdrawn.signal);
      else await this.forwardPermissionRequest(request, withdrawn.signal);
    } finally {
      this.openRequests.delete(request_id);
    }
  }

  /** Without an answer, the call stays open for the next fleet process. */
  private async answerToolCall(request: ToolCallRequest): Promise<void> {
    const { request_id } = request;
    const withdrawn = new AbortController();
    this.openRequests.set(request_id, withdrawn);
    const answer = await this.handleToolCall(request, withdrawn.signal);
    this.openRequests.delete(request_id);
    if (answer && !this.closing.signal.aborted) this.client?.answerToolCall(request_id, answer);
  }

  private async forwardQuestion(
    question: Question & { request_id: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { request_id } = question;
    const reply = await this.approvals.question(question, signal, request_id);
    // A fleet process that detaches sends no answer: the question stays open for the next one.
    if (!this.closing.signal.aborted) this.client?.reply(request_id, reply);
  }

  private async forwardPermissionRequest(
    { request_id, tool, input, description, suggested_rules, expires_at }: ApprovalRequestMessage,
    signal: AbortSignal,
  ): Promise<void> {
    const suggestedRules = suggested_rules ?? [];
    const request = { toolUseId: request_id, tool, input, description, suggestedRules };
    const answer = await this.approvals.answer(request, signal, new Date(expires_at));
    if (!this.closing.signal.aborted) this.client?.answer(request_id, answer, suggestedRules);
  }
}

/** How much of the log is read to find the current activity. */
const tailBytes = 256 * 1024;

/**
 * Forwards the output of an agent while it is written. The log on disk is the only source, so a
 * fleet process that adopts a running job forwards the rest in the same way.
 */
export class OutputTailer {
  private readonly tracker = new ActivityTracker();
  private readonly ended = new AbortController();
  private readonly reading: Promise<void>;

  constructor(
    private readonly services: JobServices,
    private readonly job: Job,
    /** Another fleet process started the attempt, so its last output is read for the activity. */
    private readonly isReattached: boolean,
  ) {
    this.reading = this.read().catch((error) =>
      services.reportError(`Failed to follow the log of ${job.id}`, error),
    );
  }

  get activity(): string {
    return this.tracker.text;
  }

  /** Resolves after the last message has been forwarded. */
  async end(): Promise<void> {
    this.ended.abort();
    await this.reading;
  }

  private async read(): Promise<void> {
    const { id: job_id, agent, output_file } = this.job;
    const size = await stat(output_file).then(
      (file) => file.size,
      () => 0,
    );
    const startOffset = this.isReattached ? Math.max(0, size - tailBytes) : size;
    const follow = this.ended.signal;
    for await (const { message, offset } of readOutput(output_file, {
      from: startOffset,
      follow,
    })) {
      // The log contains messages of claude.
      const claudeMessage = message as ClaudeMessage;
      for (const event of toJobEvents(claudeMessage)) this.tracker.addEvent(event);
      if (offset > size)
        this.services.hub.emit({
          type: "job:output",
          job_id,
          agent,
          message: claudeMessage,
          offset,
        });
    }
  }
}

interface RunnerClientEvents {
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
class RunnerClient extends EventEmitter<RunnerClientEvents> {
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

  /** `suggestedRules` apply to the rest of the process if the answer gives them. */
  answer(
    request_id: string,
    answer: PermissionAnswer,
    suggestedRules: readonly ToolRule[] = [],
  ): void {
    const details =
      answer.behavior === "deny"
        ? { message: answer.message, by_person: answer.byPerson }
        : { rules: answer.updatedPermissions ? [...suggestedRules] : [] };
    this.send({ type: "answer", request_id, behavior: answer.behavior, message: "", ...details });
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

interface ConnectOptions {
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
