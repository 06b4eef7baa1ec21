import { EventEmitter } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { SpendLimit } from "../gateway/metering/decide-call.ts";
import type { RunReport } from "../runner/run-report.ts";
import { findSocketPath } from "../runner/socket-path.ts";
import type { ErrandAnswer } from "../state/errand.ts";
import type { Reply } from "../state/question.ts";
import {
  type ApprovalAsked,
  type ApprovalWithdrawn,
  type ErrandAsked,
  type FromRunner,
  readFromRunner,
  type SpendingTold,
  type ToRunner,
} from "./contract.ts";
import { LineReader } from "./line-reader.ts";
import { runnerSocketPath } from "./runner-socket.ts";

export interface RunnerLinkEvents {
  approval: [asked: ApprovalAsked];
  /** Nobody need answer it any more; `answered` also when it was by this link. */
  withdrawn: [withdrawn: ApprovalWithdrawn];
  errand: [asked: ErrandAsked];
  errandWithdrawn: [requestId: string];
  spending: [spent: SpendingTold];
  outcome: [report: RunReport];
  /** The runner is over and has left its outcome, or it died, or we closed. */
  closed: [];
}

/** A connection to a living runner. Open questions are asked again of everybody who connects: listen at once. */
export class RunnerLink extends EventEmitter<RunnerLinkEvents> {
  constructor(private readonly socket: Socket) {
    super();
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.emit("closed"));
    const reader = new LineReader();
    socket.on("data", (chunk) => {
      for (const line of reader.push(chunk)) {
        const told = readFromRunner(line);
        if (told) this.hear(told);
      }
      if (reader.isOverfull) socket.destroy();
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

  answerErrand(request_id: string, answer: ErrandAnswer): void {
    this.send({ type: "errand_answer", request_id, answer });
  }

  setSpendLimits(limits: readonly SpendLimit[]): void {
    this.send({ type: "spend_limits", limits: [...limits] });
  }

  close(): void {
    this.socket.destroySoon();
  }

  private hear(told: FromRunner): void {
    if (told.type === "approval") this.emit("approval", told);
    if (told.type === "approval_withdrawn") this.emit("withdrawn", told);
    if (told.type === "errand") this.emit("errand", told);
    if (told.type === "errand_withdrawn") this.emit("errandWithdrawn", told.request_id);
    if (told.type === "spending") this.emit("spending", told);
    if (told.type === "outcome") this.emit("outcome", told.report);
  }

  private send(line: ToRunner): void {
    if (this.socket.writable) this.socket.write(`${JSON.stringify(line)}\n`);
  }
}

export interface ConnectOptions {
  /** How long a runner may take until it listens. */
  patience?: number;
  signal?: AbortSignal;
}

const pollEvery = 10;

/** Rejects when nobody listens there in time: the runner never began, or is over already. */
export async function connectRunner(
  jobDir: string,
  { patience = 2_000, signal }: ConnectOptions = {},
): Promise<RunnerLink> {
  const deadline = Date.now() + patience;
  for (;;) {
    try {
      return new RunnerLink(await connect(findSocketPath(runnerSocketPath(jobDir))));
    } catch (error) {
      signal?.throwIfAborted();
      if (Date.now() >= deadline) throw error;
    }
    await delay(pollEvery, undefined, { signal });
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
