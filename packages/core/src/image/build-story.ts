import { UserError } from "../errors/user-error.ts";
import { statusOf } from "../runner/container/engine.ts";
import type { BuildEvent } from "./build-events.ts";

const linesKept = 12;
const builderTalk = /^(?: ---> |Removing intermediate container )/;

/** What a build has come to: the image, or the reason why there is none. */
export class BuildStory {
  private step: string | undefined;
  private lines: string[] = [];
  private id: string | undefined;
  private error: string | undefined;

  constructor(private readonly base: string | undefined) {}

  add(event: BuildEvent): void {
    if (event.kind === "step") {
      this.step = event.text;
      this.lines = [];
    }
    if (event.kind === "line" && !builderTalk.test(event.text)) {
      this.lines = [...this.lines, event.text].slice(-linesKept);
    }
    if (event.kind === "image") this.id = event.id;
    if (event.kind === "error") this.error = event.message;
  }

  end(): string {
    if (this.error !== undefined) throw this.stepFailed(this.error);
    if (this.id !== undefined) return this.id;
    throw new UserError("image_not_built", "The engine stopped before the image was complete.");
  }

  /** The engine refused the whole, or could not be heard any more. */
  failure(error: unknown): UserError {
    const message = error instanceof Error ? error.message : String(error);
    const said = statusOf(error) === undefined ? `The build broke off: ${message}` : message;
    return new UserError("image_not_built", said.trim(), { cause: error });
  }

  private stepFailed(why: string): UserError {
    if (this.step?.startsWith("FROM")) return this.baseFailed(this.step, why);
    const where = this.step === undefined ? "The build" : `The step \`${this.step}\``;
    const last = this.lines.map((line) => `\n  ${line}`).join("");
    return new UserError("image_not_built", `${where} failed: ${why}${last}`);
  }

  private baseFailed(step: string, why: string): UserError {
    const name = this.base === undefined ? `of \`${step}\`` : `\`${this.base}\``;
    return new UserError(
      "image_missing",
      `The base image ${name} is not on this machine and cannot be fetched: ${why}`,
      { hint: "Check its name, fetch it with `docker pull`, or name another with `--base`." },
    );
  }
}
