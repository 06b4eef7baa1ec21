import type { Question } from "@herdctl/protocol";
import { waitForAbort } from "../../lib/timeout.ts";
import type { ApprovalRequestMessage, ToolCallRequest } from "../../runner/contract/messages.ts";
import type { RunReport } from "../../runner/contract/run-report.ts";
import type { SpendAmount, SpendLimit } from "../../runner/contract/spend-plan.ts";
import { readReport } from "../../runner/recovery/collect-report.ts";
import { connectToRunner, type RunnerClient } from "../../runner-pool/runner-client.ts";
import type { ToolCallAnswer } from "../../store/model/tool-call.ts";
import type { StopReason } from "../services.ts";
import type { ApprovalRequests } from "./approval-requests.ts";

/** Resolves with undefined if this fleet process has no answer. */
export type HandleToolCall = (
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
    { request_id, tool, input, description, expires_at }: ApprovalRequestMessage,
    signal: AbortSignal,
  ): Promise<void> {
    const request = { toolUseId: request_id, tool, input, description };
    const answer = await this.approvals.answer(request, signal, new Date(expires_at));
    const message = answer.behavior === "deny" ? answer.message : "";
    if (!this.closing.signal.aborted) this.client?.answer(request_id, answer.behavior, message);
  }
}
