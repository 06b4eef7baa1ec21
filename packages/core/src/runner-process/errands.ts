import { randomUUID } from "node:crypto";
import type { ErrandAnswer, SendErrand } from "../state/errand.ts";
import type { ErrandAsked, FromRunner, ToRunner } from "./contract.ts";

type Answer = Extract<ToRunner, { type: "errand_answer" }>;

/**
 * What this run asks of its fleet and waits for. Each is said again to everybody who connects until
 * it is answered: the fleet may be killed at any moment, and the next one gives the same answer.
 */
export class OpenErrands {
  private readonly open = new Map<string, { asked: ErrandAsked; close: Close }>();

  constructor(private readonly tell: (line: FromRunner) => void) {}

  get all(): ErrandAsked[] {
    return [...this.open.values()].map(({ asked }) => asked);
  }

  readonly send: SendErrand = (kind, input, signal) =>
    new Promise((resolve) => {
      const request_id = randomUUID();
      const asked: ErrandAsked = { type: "errand", request_id, kind, input };
      const withdraw = () => {
        this.tell({ type: "errand_withdrawn", request_id });
        close({ kind: "refused", reason: "It is no longer wanted." });
      };
      const close: Close = (answer) => {
        if (!this.open.delete(request_id)) return;
        signal.removeEventListener("abort", withdraw);
        resolve(answer);
      };
      this.open.set(request_id, { asked, close });
      this.tell(asked);
      signal.addEventListener("abort", withdraw, { once: true });
      if (signal.aborted) withdraw();
    });

  answer({ request_id, answer }: Answer): void {
    this.open.get(request_id)?.close(answer);
  }
}

type Close = (answer: ErrandAnswer) => void;
