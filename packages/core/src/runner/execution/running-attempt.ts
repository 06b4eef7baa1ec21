import { stat } from "node:fs/promises";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Question, Reply } from "@herdctl/protocol";
import { sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import type { OutputWriter } from "../../store/files/output-log.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { CallbackError } from "../contract/errors.ts";
import type { PermissionRequest } from "../contract/messages.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import { BackgroundTasks } from "../runtimes/claude-handle.ts";
import type { KeepAliveRuntime } from "../runtimes/keep-alive-runtime.ts";
import type { ExecuteOptions, RuntimeInterface } from "../runtimes/runtime-interface.ts";
import type { RuntimeObserver } from "../runtimes/spawn-claude.ts";
import { toRefusal } from "./classify-outcome.ts";
import { DeadlineTimer, DiskWatch } from "./deadline-timer.ts";
import { addMessage, type Evidence, emptyEvidence, type StopReason } from "./evidence.ts";
import {
  type HumanHandlers,
  type HumanRequestRouting,
  routeHumanRequests,
} from "./human-requests.ts";
import type { OpenRun } from "./open-run.ts";
import type { Redactor } from "./redactor.ts";
import type { CreateRunTools, RunTools, ToolNote } from "./run-tools.ts";
import { findStartupFailures } from "./startup-failures.ts";
import { StderrLog } from "./stderr-log.ts";

/** Callbacks during a run. */
export interface RunHandlers extends HumanHandlers {
  /** Called after the message was written to the log. */
  onMessage?(message: SDKMessage): void;
  /** Creates herdctl's tools for the agent. */
  createTools?: CreateRunTools;
  /** Called before the run can spend anything. */
  onMeter?(meter: SpendMeter): void;
  /** The error that ended the run, in addition to the outcome. */
  onError?(error: unknown): void;
}

/** One run of claude in progress: writes all messages to the log and collects the evidence. */
export class RunningAttempt {
  private evidence = emptyEvidence();
  private readonly stopController = new AbortController();
  private readonly endController = new AbortController();
  private readonly tasks = new BackgroundTasks();
  private readonly stderr: StderrLog;
  private readonly deadlineTimer: DeadlineTimer;
  private readonly diskWatch: DiskWatch;
  private hasFinalMessage = false;
  private isIdle = false;
  private hasUsedTools = false;
  private awaitedCount = 0;
  private isWriting = false;
  private output: OutputWriter | undefined;

  constructor(
    private readonly order: RunOrder,
    private readonly run: OpenRun,
    jobDir: string,
    private readonly handlers: RunHandlers,
    private readonly redactor: Redactor,
  ) {
    this.stderr = new StderrLog(jobDir, redactor);
    this.diskWatch = new DiskWatch({
      folders: [order.cwd, jobDir],
      minFreeBytes: order.place === "docker" ? order.agent.docker.min_free_disk : 0,
      onLowSpace: () => this.stop("disk_full"),
    });
    this.deadlineTimer = new DeadlineTimer({
      limits: order.agent.timeouts,
      startedAt: Date.now(),
      readLatestActivity: () => this.readLatestActivity(),
      onOverdue: (limit) => this.stop(limit),
    });
  }

  /** Has no effect after the final message: the run ends by itself, and its result stays valid. */
  stop(reason: StopReason): void {
    if (this.hasFinalMessage || this.stopController.signal.aborted) return;
    this.evidence = { ...this.evidence, stopped: reason };
    this.stopController.abort(reason);
  }

  async follow(runtime: RuntimeInterface, output: OutputWriter): Promise<Evidence> {
    this.output = output;
    try {
      // defence: disk-limit
      await this.diskWatch.start();
      for await (const message of this.redactedMessages(runtime)) {
        failPoint(failPointOf(message));
        this.isWriting = true;
        const isResult = message.type === "result";
        const written = output.append(withTime(message), { isResult });
        // Recorded even if the write fails, because the next attempt needs the session.
        this.recordMessage(message);
        await written;
        this.isWriting = false;
        // Sync while claude shuts down, so that there is less to wait for afterwards.
        if (this.hasFinalMessage) output.sync().catch(() => undefined);
        failPoint("message kept");
        this.notifyCaller(message);
      }
      await output.sync();
    } catch (error) {
      this.recordFailure(error);
    } finally {
      this.deadlineTimer.stop();
      this.diskWatch.stop();
      this.output = undefined;
      this.endController.abort();
      await Promise.all([this.stopProcesses(runtime), this.stderr.close()]);
    }
    return { ...this.evidence, stderr: this.stderr.tail, gateway: this.run.gatewayEvidence() };
  }

  private notifyCaller(message: SDKMessage): void {
    const fail = (cause: unknown) => new CallbackError("onMessage", cause);
    try {
      const pending: unknown = this.handlers.onMessage?.(message);
      if (!(pending instanceof Promise)) return;
      pending.catch((cause) => {
        this.recordFailure(fail(cause));
        this.stop("interrupted");
      });
    } catch (cause) {
      throw fail(cause);
    }
  }

  /** The first failure ends the run; others follow from it. */
  private recordFailure(error: unknown): void {
    if (this.evidence.refused) return;
    this.evidence = { ...this.evidence, refused: toRefusal(error) };
    this.handlers.onError?.(error);
  }

  /** Redacts secrets before anything is stored or shown. */
  private async *redactedMessages(runtime: RuntimeInterface) {
    for await (const message of runtime.execute(this.executeOptions())) {
      // defence: redacted-messages
      yield* this.redactor.redactMessage(message);
    }
  }

  /** Starts claude before there is a prompt. The run that takes it over enforces the deadlines. */
  async prewarm(runtime: KeepAliveRuntime): Promise<void> {
    this.deadlineTimer.stop();
    await runtime.open({ ...this.executeOptions(), isPrewarm: true });
  }

  private async stopProcesses(runtime: RuntimeInterface): Promise<void> {
    const { processTracker } = this.run;
    if (this.isIdle) {
      await Promise.all([
        this.hasUsedTools && processTracker.killLeftovers(),
        runtime.endIfUnusable?.(),
      ]);
    } else await processTracker.kill();
  }

  private recordMessage(message: SDKMessage): void {
    this.evidence = addMessage(this.evidence, message);
    this.hasUsedTools ||= this.evidence.openTools.length > 0;
    // Messages after the final one do not revoke it.
    this.hasFinalMessage ||= this.tasks.isFinalMessage(message);
    this.trackProcesses();
    this.deadlineTimer.recordActivity();
    this.pauseClock();
    if (message.type !== "system") return;
    if (message.subtype === "init") this.onInitialized(message);
    // The binary would retry a rejected credential ten times over three minutes.
    const isRejected =
      message.subtype === "api_retry" && [401, 403].includes(message.error_status ?? 0);
    if (isRejected) this.stop("auth_failed");
  }

  private onInitialized(init: object): void {
    this.deadlineTimer.markInitialized();
    const { warnings, missingServers } = findStartupFailures(this.order.agent, init);
    for (const warning of warnings) this.warn(warning);
    if (missingServers.length > 0) {
      this.evidence = { ...this.evidence, missingServers };
      this.stop("mcp_failed");
    }
    if (this.order.keepAlive) this.run.processTracker.rememberServers();
  }

  /** A reused `claude` starts no new processes before it uses a tool. */
  private trackProcesses(): void {
    if (this.hasUsedTools || !this.run.isReused) this.run.processTracker.poll();
  }

  private pauseClock(): void {
    this.deadlineTimer.pause(this.awaitedCount > 0 || this.evidence.openTools.length > 0);
  }

  private executeOptions(): ExecuteOptions {
    const { order, run } = this;
    const { servers, allowed } = this.createTools();
    const { onPermission, onElicitation, deniedTools } = this.routeRequests();
    return {
      agent: withTools(order.agent, { allowed, denied: deniedTools }),
      prompt: order.prompt,
      expandsReferences: order.expandsReferences,
      session: order.session,
      claude: order.claude.path,
      claudeVersion: order.claude.version,
      cwd: order.cwd,
      env: run.env,
      privateDir: run.privateDir,
      socketDir: run.socketDir,
      authFile: run.authFile,
      gitDir: run.gitDir,
      run: { jobId: order.jobId, attempt: order.attempt },
      signal: this.stopController.signal,
      onPermission,
      onElicitation,
      bridgedServers: servers,
      partialMessages: order.partialMessages,
      keepAlive: order.keepAlive,
      observer: this.observer(),
    };
  }

  private routeRequests(): HumanRequestRouting {
    const routing = routeHumanRequests(this.order.agent, this.handlers);
    const ask = this.pausingClock(routing.onPermission);
    const onPermission: HumanRequestRouting["onPermission"] =
      ask &&
      (async (request, signal) => {
        const answer = await ask(request, signal);
        if (answer.behavior === "deny" && answer.byPerson) this.rememberDenial(request);
        return answer;
      });
    return { ...routing, onPermission, onElicitation: this.pausingClock(routing.onElicitation) };
  }

  private pausingClock<Request, Answer>(
    ask: ((request: Request, signal: AbortSignal) => Promise<Answer>) | undefined,
  ) {
    return (
      ask &&
      ((request: Request, signal: AbortSignal) =>
        this.whileAwaiting(ask(request, this.whileRunning(signal))))
    );
  }

  private rememberDenial({ toolUseId }: PermissionRequest): void {
    const deniedByPerson = [...this.evidence.deniedByPerson, toolUseId];
    this.evidence = { ...this.evidence, deniedByPerson };
  }

  private async question(question: Question, signal: AbortSignal): Promise<Reply> {
    const ask = this.handlers.onQuestion;
    if (!ask) return { kind: "none", why: "nobody" };
    return this.whileAwaiting(ask(question, this.whileRunning(signal)));
  }

  private whileRunning(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.stopController.signal, this.endController.signal]);
  }

  private createTools(): RunTools {
    const context = {
      note: (note: ToolNote) => this.note(note),
      whileAwaiting: <T>(answer: Promise<T>) => this.whileAwaiting(answer),
      question: (question: Question, signal: AbortSignal) => this.question(question, signal),
    };
    return this.handlers.createTools?.(context) ?? { servers: {}, allowed: [] };
  }

  /** Dropped after the end of the run, when a tool may still be working. */
  private async note({ tool, event, ...details }: ToolNote): Promise<void> {
    await this.output?.append({ type: "herd", tool, event, at: new Date(), ...details });
  }

  private async whileAwaiting<T>(answer: Promise<T>): Promise<T> {
    this.awaitedCount += 1;
    this.pauseClock();
    try {
      return await answer;
    } finally {
      this.awaitedCount -= 1;
      this.pauseClock();
    }
  }

  private observer(): RuntimeObserver {
    return {
      onSpawned: (pid) => {
        if (pid !== undefined) this.run.processTracker.track(pid);
        this.run.gateway?.preconnect();
      },
      onActivity: () => {
        this.deadlineTimer.recordActivity();
        this.trackProcesses();
      },
      isCaughtUp: () => !this.isWriting,
      onStderr: (text) => this.stderr.add(text),
      onServerSpawned: (pid) => this.run.processTracker.trackServer(pid),
      onServerNote: (text) => this.stderr.note(text),
      onExited: (exit) => {
        this.evidence = { ...this.evidence, exit };
      },
      onIdle: () => {
        this.isIdle = true;
      },
      onContainer: (container) => {
        this.evidence = { ...this.evidence, container };
      },
      onWarning: (text) => this.warn(text),
    };
  }

  /** A run with several turns initializes several times. */
  private warn(text: string): void {
    const { warnings } = this.evidence;
    if (warnings.includes(text)) return;
    this.evidence = { ...this.evidence, warnings: [...warnings, text] };
  }

  /** Traffic through the gateway and writes to the transcript also count as activity. */
  private async readLatestActivity(): Promise<number> {
    const file = sessionFilePath(this.order, this.order.session.sessionId);
    const transcript = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return Math.max(transcript, this.run.gateway?.meter().lastActivityAt ?? 0);
  }
}

function failPointOf(message: SDKMessage) {
  if (message.type === "result") return "result seen";
  const isInit = message.type === "system" && message.subtype === "init";
  return isInit ? "init seen" : "message seen";
}

/**
 * Most messages have no timestamp, and readers of the log need one. Partial messages do not get one:
 * the complete message that follows has it.
 */
function withTime(message: SDKMessage): object {
  const hasOwn = "timestamp" in message || message.type === "stream_event";
  return hasOwn ? message : { ...message, herdctl_at: new Date() };
}

function withTools(
  agent: RunOrder["agent"],
  { allowed, denied }: { allowed: readonly string[]; denied: readonly string[] },
): RunOrder["agent"] {
  return {
    ...agent,
    allowed_tools: [...agent.allowed_tools, ...allowed],
    host_tools: agent.host_tools && {
      ...agent.host_tools,
      allowed_tools: [...agent.host_tools.allowed_tools, ...allowed],
    },
    denied_tools: [...agent.denied_tools, ...denied],
  };
}
