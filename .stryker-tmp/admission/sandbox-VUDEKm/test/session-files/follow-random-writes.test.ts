import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { followSessionFile } from "../../packages/core/src/claude/session-files/follow-session-file.ts";
import { sampleCount } from "../support/test-subset.ts";

const runs = sampleCount(1_000);
const maxConcurrent = 50;

/** The steps of a writer of a session file, valid and invalid. */
type Step =
  | { do: "line"; text: string; cuts: number[]; pause: number }
  | { do: "spoil"; with: "torn" | "spliced" | "nul" | "foreign"; text: string }
  | { do: "blank" }
  | { do: "replace"; how: "rename" | "in place" }
  | { do: "cut" }
  | { do: "pause"; for: number };

const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.integer({ min: 1, max: 15_000 }).map((count) => {
    return Array.from({ length: count }, (_, index) => `ü€😀${index * count}`).join("");
  }),
);

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("line" as const),
      text,
      cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
      pause: fc.constantFrom(0, 0, 0, 1, 3),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("spoil" as const),
      with: fc.constantFrom(
        "torn" as const,
        "spliced" as const,
        "nul" as const,
        "foreign" as const,
      ),
      text,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "blank" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("replace" as const),
      how: fc.constantFrom("rename" as const, "in place" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "cut" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("pause" as const), for: fc.constantFrom(1, 10, 80) }),
  },
);

const scenarioArbitrary = fc.record({
  beforehand: fc.constantFrom("nothing", "the folder", "the file"),
  steps: fc.array(stepArbitrary, { minLength: 1, maxLength: 14 }),
  lastNewline: fc.boolean(),
});

type Scenario = typeof scenarioArbitrary extends fc.Arbitrary<infer S> ? S : never;

test("loses, doubles and splits no line in many randomised runs", async () => {
  const root = mkdtempSync(join(tmpdir(), "herdctl-follow-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const seed = Date.now() | 0;
  const scenarios = fc.sample(scenarioArbitrary, { numRuns: runs, seed });
  const queue = scenarios.entries();
  const work = async () => {
    for (const [index, one] of queue) {
      const file = join(root, String(index), "projects", "-work", "session.jsonl");
      mkdirSync(join(root, String(index)));
      const seen = await playScenario(file, one);
      if (isLossless(seen)) continue;
      // Compares ids because texts can be long.
      const { given, written, ...counts } = seen;
      const ids = (lines: string[]) => lines.map((line) => line.split(" ")[0]).join();
      const steps = one.steps.map((each) => each.do).join();
      expect.fail(
        JSON.stringify({ seed, index, ...counts, given: ids(given), written: ids(written), steps }),
      );
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, work));
});

type ScenarioResult = Awaited<ReturnType<typeof playScenario>>;

function isLossless({
  given,
  written,
  wasReread,
  skipped,
  corruptedCount,
}: ScenarioResult): boolean {
  const sameLines =
    given.length === written.length && given.every((one, at) => one === written[at]);
  return sameLines && (wasReread || skipped === corruptedCount);
}

async function playScenario(file: string, { beforehand, steps, lastNewline }: Scenario) {
  const folder = dirname(file);
  if (beforehand !== "nothing") mkdirSync(folder, { recursive: true });
  if (beforehand === "the file") writeFileSync(file, "");
  const given: string[] = [];
  let skipped = 0;
  const writer = new SessionFileWriter(file, () => given.length);
  const written = writer.playScenario(steps, lastNewline);
  const lines = followSessionFile({
    file,
    signal: new AbortController().signal,
    until: written,
    onSkipped: () => {
      skipped += 1;
    },
  });
  for await (const { line } of lines) given.push(`${line.uuid} ${line.text}`);
  await written;
  return { given, skipped, ...writer };
}

/** Plays steps on a real file and computes what an ideal reader would have read. */
class SessionFileWriter {
  readonly written: string[] = [];
  corruptedCount = 0;
  wasReread = false;
  #content = Buffer.alloc(0);

  constructor(
    private readonly file: string,
    private readonly countRead: () => number,
  ) {}

  async playScenario(steps: Step[], lastNewline: boolean): Promise<void> {
    await sleep(1);
    mkdirSync(dirname(this.file), { recursive: true });
    for (const one of steps) await this.applyStep(one);
    this.append(this.goodLine("the last").subarray(0, lastNewline ? undefined : -1));
  }

  private async applyStep(one: Step): Promise<void> {
    if (one.do === "pause") await sleep(one.for);
    if (one.do === "blank") this.append(Buffer.from("\n"));
    if (one.do === "line") await this.appendInParts(this.goodLine(one.text), one.cuts, one.pause);
    if (one.do === "spoil") this.append(this.spoiltLine(one.with, one.text));
    if (one.do === "replace") this.replace(one.how);
    if (one.do === "cut") await this.cut();
  }

  private goodLine(content: string): Buffer {
    const uuid = `uuid-${this.written.length}`;
    this.written.push(`${uuid} ${content}`);
    return Buffer.from(`${JSON.stringify({ text: content, uuid, type: "user" })}\n`);
  }

  private spoiltLine(kind: string, content: string): Buffer {
    this.corruptedCount += 1;
    const whole = JSON.stringify({ type: "user", uuid: "spoilt", text: content });
    if (kind === "torn") return Buffer.from(`${whole.slice(0, -2)}\n`);
    if (kind === "spliced") return Buffer.from(`${whole.slice(0, 20)}${whole}\n`);
    if (kind === "foreign") return Buffer.from("[1]\n");
    return Buffer.concat([Buffer.alloc(100), Buffer.from(`${whole}\n`)]);
  }

  private async appendInParts(bytes: Buffer, cuts: number[], pause: number): Promise<void> {
    const places = cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b);
    for (const [index, from] of [0, ...places].entries()) {
      this.append(bytes.subarray(from, places[index]));
      if (pause > 0) await sleep(pause);
    }
  }

  private append(bytes: Buffer): void {
    appendFileSync(this.file, bytes);
    this.#content = Buffer.concat([this.#content, bytes]);
  }

  private replace(how: "rename" | "in place"): void {
    this.wasReread = true;
    const target = how === "rename" ? `${this.file}.new` : this.file;
    writeFileSync(target, this.#content);
    if (how === "rename") renameSync(target, this.file);
  }

  /** A reader can only read lines that exist long enough. */
  private async cut(): Promise<void> {
    this.wasReread = true;
    while (this.countRead() < this.written.length) await sleep(1);
    writeFileSync(this.file, "");
    this.#content = Buffer.alloc(0);
  }
}
