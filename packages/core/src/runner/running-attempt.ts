import { stat } from "node:fs/promises";
import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { failPoint } from "../faults/fail-point.ts";
import type { SpendMeter } from "../gateway/metering/spend-meter.ts";
import type { OutputWriter } from "../state/output-writer.ts";
import type { Question, Reply } from "../state/question.ts";
import { DiskWatch } from "./disk-watch.ts";
import { addMessage, type Evidence, noEvidence, type StopReason } from "./evidence.ts";
import type { OpenRun } from "./open-run.ts";
import type { HerdNote, MakeOwnTools, OwnTools } from "./own-tools.ts";
import type { Redactor } from "./redactor.ts";
import { refusalOf } from "./refusal-of.ts";
import type { RunOrder } from "./run-order.ts";
import type { RunReport } from "./run-report.ts";
import { BackgroundTasks } from "./runtime/background-tasks.ts";
import type { ExecuteOptions, RuntimeInterface, RuntimeObserver } from "./runtime/interface.ts";
import type { LiveRuntime } from "./runtime/live-runtime.ts";
import { sessionFilePath } from "./runtime/session-file/path.ts";
import type { SpawnClaude } from "./runtime/spawn.ts";
import { StderrLog } from "./stderr-log.ts";
import { StopClock } from "./stop-clock.ts";
import { type Asking, type People, whoIsAsked } from "./who-is-asked.ts";

/** Who looks on while a run is under way. */
export interface RunWatch extends People {
  /** After the message is in the log. */
  onMessage?(message: SDKMessage): void;
  /** Tools of ours for the agent. */
  ownTools?: MakeOwnTools;
  /** Before the run may spend anything. */
  onMeter?(meter: SpendMeter): void;
  /** It lies in the job's folder as well; only what may be left of the run is still looked for. */
  onTold?(report: RunReport): void;
  /** The error that broke the run off, beside the outcome that tells of it. */
  onError?(error: unknown): void;
}

/** One run of claude while it lives: everything it shows goes into the log and into the evidence. */
export class RunningAttempt {
  private evidence = noEvidence();
  private readonly ending = new AbortController();
  private readonly over = new AbortController();
  private readonly tasks = new BackgroundTasks();
  private readonly stderr: StderrLog;
  private readonly clock: StopClock;
  private readonly disk: DiskWatch;
  private hadLastWord = false;
  private staysUp = false;
  private usedTools = false;
  private awaited = 0;
  private isKeeping = false;
  private output: OutputWriter | undefined;

  constructor(
    private readonly order: RunOrder,
    private readonly run: OpenRun,
    jobDir: string,
    private readonly watch: RunWatch,
    private readonly redactor: Redactor,
  ) {
    this.stderr = new StderrLog(jobDir, redactor);
    this.disk = new DiskWatch({
      folders: [order.cwd, jobDir],
      minFreeBytes: order.place === "docker" ? order.agent.docker.min_free_disk : 0,
      onShort: () => this.stop("disk_full"),
    });
    this.clock = new StopClock({
      limits: order.agent.timeouts,
      startedAt: Date.now(),
      latestSign: () => this.latestSign(),
      onOverdue: (limit) => this.stop(limit),
    });
  }

  /** A run that has had its last word is over by itself: stopping it then would belie its result. */
  stop(reason: StopReason): void {
    if (this.hadLastWord || this.ending.signal.aborted) return;
    this.evidence = { ...this.evidence, stopped: reason };
    this.ending.abort(reason);
  }

  async follow(
    runtime: RuntimeInterface,
    output: OutputWriter,
    spawn?: SpawnClaude,
  ): Promise<Evidence> {
    this.output = output;
    try {
      await this.disk.start();
      for await (const message of this.redacted(runtime, spawn)) {
        failPoint(pointOf(message));
        this.isKeeping = true;
        const isResult = message.type === "result";
        const kept = output.append(withTime(message), { isResult });
        // What was seen counts, also when it cannot be kept: the next attempt must know the session.
        this.take(message);
        await kept;
        this.isKeeping = false;
        // While it winds up: there is less to wait for when it is gone.
        if (this.hadLastWord) output.sync().catch(() => undefined);
        failPoint("message kept");
        this.watch.onMessage?.(message);
      }
      await output.sync();
    } catch (error) {
      this.evidence = { ...this.evidence, refused: refusalOf(error) };
      this.watch.onError?.(error);
    } finally {
      this.clock.stop();
      this.disk.stop();
      this.output = undefined;
      this.over.abort();
      await Promise.all([this.sweep(runtime), this.stderr.close()]);
    }
    return { ...this.evidence, stderr: this.stderr.tail, gateway: this.run.gatewayFacts() };
  }

  /** Secrets are gone before anything is stored or shown. */
  private async *redacted(runtime: RuntimeInterface, spawn?: SpawnClaude) {
    for await (const message of runtime.execute({ ...this.executeOptions(), spawn })) {
      yield* this.redactor.messages(message);
    }
  }

  /** Before there is anything to say to it: whoever takes it over follows it. */
  async startOnly(runtime: LiveRuntime): Promise<void> {
    this.clock.stop();
    await runtime.open({ ...this.executeOptions(), ahead: true });
  }

  /** Where no tool was used, hardly anything can be left: nobody has to wait for every look. */
  private async sweep(runtime: RuntimeInterface): Promise<void> {
    const { leash } = this.run;
    if (this.staysUp) {
      await Promise.all([this.usedTools && leash.killLeftOvers(), runtime.endIfUsedUp?.()]);
    } else if (this.usedTools && !leash.isSurelyOver) await leash.kill();
    else await leash.killUnhurried();
  }

  private take(message: SDKMessage): void {
    this.evidence = addMessage(this.evidence, message);
    this.usedTools ||= this.evidence.openTools.length > 0;
    // What trails behind the last word does not take it back.
    this.hadLastWord ||= this.tasks.isLastWord(message);
    this.glance();
    this.clock.sign();
    this.pauseClock();
    if (message.type !== "system") return;
    if (message.subtype === "init") this.begun();
    // The binary would try a refused credential ten times over three minutes.
    const isRefused =
      message.subtype === "api_retry" && [401, 403].includes(message.error_status ?? 0);
    if (isRefused) this.stop("auth_failed");
  }

  private begun(): void {
    this.clock.begun();
    if (this.order.live) this.run.leash.spareServers();
  }

  /** A `claude` that was up has nothing new about it before it uses a tool. */
  private glance(): void {
    if (this.usedTools || !this.run.wasUp) this.run.leash.glance();
  }

  private pauseClock(): void {
    this.clock.pause(this.awaited > 0 || this.evidence.openTools.length > 0);
  }

  private executeOptions(): ExecuteOptions {
    const { order, run } = this;
    const { servers, allowed } = this.ownTools();
    const { onPermission, denied } = this.asking();
    return {
      agent: withTools(order.agent, { allowed, denied }),
      prompt: order.prompt,
      expand: order.expand,
      session: order.session,
      claude: order.claude.path,
      claudeVersion: order.claude.version,
      cwd: order.cwd,
      env: run.env,
      privateDir: run.privateDir,
      doorDir: run.doorDir,
      authFile: run.authFile,
      gitDir: run.gitDir,
      spare: run.spare,
      run: { jobId: order.jobId, attempt: order.attempt },
      signal: this.ending.signal,
      onPermission,
      bridgedServers: servers,
      partialMessages: order.partialMessages,
      stays: order.live,
      observer: this.observer(),
    };
  }

  private asking(): Asking {
    const { onPermission: ask, denied } = whoIsAsked(this.order.agent, this.watch);
    const onPermission: Asking["onPermission"] =
      ask && ((request, signal) => this.awaiting(ask(request, this.whileRunning(signal))));
    return { onPermission, denied };
  }

  private async question(question: Question, signal: AbortSignal): Promise<Reply> {
    const ask = this.watch.onQuestion;
    if (!ask) return { kind: "none", why: "nobody" };
    return this.awaiting(ask(question, this.whileRunning(signal)));
  }

  private whileRunning(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.ending.signal, this.over.signal]);
  }

  private ownTools(): OwnTools {
    const doors = {
      note: (note: HerdNote) => this.note(note),
      awaiting: <T>(answer: Promise<T>) => this.awaiting(answer),
      question: (question: Question, signal: AbortSignal) => this.question(question, signal),
    };
    return this.watch.ownTools?.(doors) ?? { servers: {}, allowed: [] };
  }

  /** A tool may still be at work when the run is over, and then nobody looks on. */
  private async note({ tool, event, ...details }: HerdNote): Promise<void> {
    await this.output?.append({ type: "herd", tool, event, at: new Date(), ...details });
  }

  private async awaiting<T>(answer: Promise<T>): Promise<T> {
    this.awaited += 1;
    this.pauseClock();
    try {
      return await answer;
    } finally {
      this.awaited -= 1;
      this.pauseClock();
    }
  }

  private observer(): RuntimeObserver {
    return {
      spawned: (pid, group) => {
        if (pid !== undefined) this.run.leash.hold(pid, group);
        this.run.gateway?.getReady();
      },
      activity: () => {
        this.clock.sign();
        this.glance();
      },
      isCaughtUp: () => !this.isKeeping,
      stderr: (text) => this.stderr.add(text),
      serverSpawned: (pid) => this.run.leash.holdServer(pid),
      serverNote: (text) => this.stderr.note(text),
      exited: (exit) => {
        this.evidence = { ...this.evidence, exit };
      },
      waits: () => {
        this.staysUp = true;
      },
      container: (container) => {
        this.evidence = { ...this.evidence, container };
      },
      warning: (text) => {
        this.evidence = { ...this.evidence, warnings: [...this.evidence.warnings, text] };
      },
    };
  }

  /** Also bytes that pass the gateway and lines that the transcript gains are life. */
  private async latestSign(): Promise<number> {
    const file = sessionFilePath(this.order, this.order.session.sessionId);
    const transcript = await stat(file).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return Math.max(transcript, this.run.gateway?.meter().lastActivityAt ?? 0);
  }
}

function pointOf(message: SDKMessage) {
  if (message.type === "result") return "result seen";
  const isInit = message.type === "system" && message.subtype === "init";
  return isInit ? "init seen" : "message seen";
}

/**
 * Most messages do not say when they came, and in older versions hardly any; the log is where it is
 * asked afterwards. Pieces of text have the time of the message that they become.
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
