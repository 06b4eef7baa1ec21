import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readOutput } from "../../packages/core/src/store/files/output-reader.ts";
import { openOutput } from "../../packages/core/src/store/files/output-writer.ts";
import { programCommand, startTestProgram } from "./test-program.ts";
import { onCleanup, tempFolder } from "./test-stores.ts";

function createJobFolder() {
  const jobDir = join(tempFolder(), "jobs", "job-1");
  return { jobDir, file: join(jobDir, "output.jsonl") };
}

async function openWriter(jobDir: string) {
  const output = await openOutput(jobDir);
  onCleanup(() => output.close());
  return output;
}

async function readAll(file: string, from = 0) {
  const reader = readOutput(file, { from });
  const messages: unknown[] = [];
  const offsets: number[] = [];
  for await (const { message, offset } of reader) {
    messages.push(message);
    offsets.push(offset);
  }
  return { messages, offsets, skipped: reader.skippedLines };
}

describe("writing a log", () => {
  test("keeps only results in a log at its size limit, with one marker", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openOutput(jobDir, 100);
    onCleanup(() => output.close());
    const message = { type: "assistant", text: "x".repeat(40) };
    for (let count = 0; count < 5; count += 1) await output.append(message);
    await output.append({ type: "result" }, { isResult: true });
    const { messages } = await readAll(file);
    const marker = { type: "system", subtype: "output_dropped", reason: "log_full" };
    expect(messages).toEqual([message, { ...marker, max_bytes: 100 }, { type: "result" }]);
    expect(output.dropped).toBe(4);
  });

  test("writes a message as one line before its promise resolves", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openWriter(jobDir);
    await output.append({ type: "assistant", text: "two\nlines \u2028 🐑" });
    expect(readFileSync(file, "utf8")).toBe(
      '{"type":"assistant","text":"two\\nlines \u2028 🐑"}\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(jobDir).mode & 0o777).toBe(0o700);
    await output.appendRaw('{"raw":1}');
    await output.appendRaw(Buffer.from('{"raw":2}'));
    await output.sync();
    expect((await readAll(file)).messages.slice(1)).toEqual([{ raw: 1 }, { raw: 2 }]);
  });

  test("rejects text with several lines, and everything after the close", async () => {
    const { jobDir } = createJobFolder();
    const output = await openWriter(jobDir);
    await expect(output.appendRaw('{"a":\n1}')).rejects.toThrow(/one line/);
    await expect(output.appendRaw(Buffer.from("\n"))).rejects.toThrow(/one line/);
    await expect(output.appendRaw("")).rejects.toThrow(/one line/);
    await output.close();
    await output.close();
    await expect(output.append({})).rejects.toThrow(/closed/);
  });

  test("keeps the order of messages of any size without waiting in between", async () => {
    const line = fc.tuple(fc.constantFrom(0, 1, 100, 70_000, 1_500_000), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        const { jobDir, file } = createJobFolder();
        const output = await openOutput(jobDir);
        const sent = lines.map(([size], n) => ({ n, text: "a🐑".repeat(size / 2) }));
        const writes = sent.map((message, n) =>
          lines[n]?.[1]
            ? output.appendRaw(Buffer.from(JSON.stringify(message)))
            : output.append(message),
        );
        await output.close();
        await Promise.all(writes);
        expect((await readAll(file)).messages).toEqual(sent);
      }),
      { numRuns: 15 },
    );
  });

  test("writes over 10,000 messages a second", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openWriter(jobDir);
    const began = performance.now();
    for (let n = 0; n < 20_000; n++) {
      const written = output.append({ type: "assistant", n, text: "x".repeat(300) });
      if (n % 100 === 0) await written;
    }
    await output.close();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect((await readAll(file)).messages).toHaveLength(20_000);
  });

  test("keeps messages of 50 MB in order without copies in memory or a blocked loop", async () => {
    const { jobDir, file } = createJobFolder();
    const program = startTestProgram("write-huge-message", jobDir);
    const { peakMb, longestPause } = JSON.parse(await program.nextLine());
    await program.ended;
    expect(peakMb).toBeLessThan(25);
    expect(longestPause).toBeLessThan(1_000);
    expect(statSync(file).size).toBeGreaterThan(200 * 1024 * 1024);
    const types: unknown[] = [];
    for await (const { message } of readOutput(file)) types.push(message.type);
    expect(types).toEqual(Array.from({ length: 4 }, () => ["before", "huge", "after"]).flat());
  });

  test("fails the append on a full disk without hanging", async () => {
    const { jobDir, file } = createJobFolder();
    mkdirSync(jobDir, { recursive: true });
    symlinkSync("/dev/full", file);
    const output = await openWriter(jobDir);
    await expect(output.append({ n: 1 })).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(output.append({ n: 2 })).rejects.toMatchObject({ code: "ENOSPC" });
  });

  test("separates a line that a full disk truncated from the next", async () => {
    const { jobDir, file } = createJobFolder();
    const limited = spawnSync("bash", [
      "-c",
      `ulimit -f 4; "$@"`,
      "-",
      ...programCommand("write-output", jobDir, "100"),
    ]);
    expect(limited.status).not.toBe(0);
    expect(String(limited.stderr)).toContain("EFBIG");
    expect(statSync(file).size).toBe(4096);
    const output = await openWriter(jobDir);
    await output.append({ number: "next" });
    const { messages, skipped } = await readAll(file);
    expect(skipped).toBe(1);
    expect(messages.at(-1)).toEqual({ number: "next" });
    expect(messages).toHaveLength(String(limited.stdout).trim().split("\n").length + 1);
  });
});

describe("reading a log", () => {
  test("omits an incomplete last line until it is complete", async () => {
    const { jobDir, file } = createJobFolder();
    mkdirSync(jobDir, { recursive: true });
    writeFileSync(file, '{"n":1}\n{"n":');
    const first = await readAll(file);
    expect(first).toEqual({ messages: [{ n: 1 }], offsets: [8], skipped: 0 });
    appendFileSync(file, "2}\n");
    expect((await readAll(file, 8)).messages).toEqual([{ n: 2 }]);
  });

  test("separates an incomplete line from those of the next writer", async () => {
    const { jobDir, file } = createJobFolder();
    mkdirSync(jobDir, { recursive: true });
    writeFileSync(file, '{"n":1}\n{"n":2,"text":"cut he');
    const output = await openWriter(jobDir);
    await output.append({ n: 3 });
    expect(await readAll(file)).toMatchObject({ messages: [{ n: 1 }, { n: 3 }], skipped: 1 });
  });

  test("skips and counts torn, NUL and foreign lines in the middle", async () => {
    const { jobDir, file } = createJobFolder();
    mkdirSync(jobDir, { recursive: true });
    const lines = ['{"n":1}', '{"n":', "\0\0\0\0", "", "[1]", "null", '{"n":2}{"n":3}', '{"n":4}'];
    writeFileSync(file, `${lines.join("\n")}\n`);
    expect(await readAll(file)).toMatchObject({ messages: [{ n: 1 }, { n: 4 }], skipped: 5 });
  });

  test("continues from the offset of each line", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openWriter(jobDir);
    const sent = Array.from({ length: 50 }, (_, n) => ({ n, text: "ü".repeat(n * 500) }));
    for (const message of sent) await output.append(message);
    const { offsets } = await readAll(file);
    for (const [n, offset] of offsets.entries()) {
      expect((await readAll(file, offset)).messages).toEqual(sent.slice(n + 1));
    }
  });

  test("reads no messages from a missing log", async () => {
    expect((await readAll(createJobFolder().file)).messages).toEqual([]);
    const unreadable = readAll(tempFolder());
    await expect(unreadable).rejects.toThrow(/EISDIR/);
  });
});

describe("following a log", () => {
  test("reads every line of a writer in another process once, from before its folder exists", async () => {
    const { jobDir, file } = createJobFolder();
    const stop = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { message } of readOutput(file, { follow: stop.signal })) {
        seen.push(message.number);
      }
    })();
    const program = startTestProgram("write-output", jobDir, "3000");
    await program.ended;
    stop.abort();
    await reading;
    expect(seen).toEqual(Array.from({ length: 3000 }, (_, n) => n));
  });

  test("reads everything that a killed writer had acknowledged, and what a second writer adds", async () => {
    const { jobDir, file } = createJobFolder();
    const program = startTestProgram("write-output", jobDir, "1000000");
    let last = 0;
    for await (const line of program.lines) {
      last = Number(line);
      if (last > 500) break;
    }
    await program.kill();
    const output = await openWriter(jobDir);
    await output.append({ number: "next" });
    const { messages } = await readAll(file);
    const numbers = messages.map((message) => (message as { number: unknown }).number);
    expect(numbers.slice(0, last + 1)).toEqual(Array.from({ length: last + 1 }, (_, n) => n));
    expect(numbers.at(-1)).toBe("next");
  });

  test("reads a line soon after it was written", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openWriter(jobDir);
    const stop = new AbortController();
    const lines = readOutput(file, { follow: stop.signal })[Symbol.asyncIterator]();
    const delays: number[] = [];
    for (let n = 0; n < 20; n++) {
      const next = lines.next();
      await new Promise((resolve) => setTimeout(resolve, 5));
      const written = performance.now();
      await output.append({ n });
      expect((await next).value).toMatchObject({ message: { n } });
      delays.push(performance.now() - written);
    }
    stop.abort();
    expect(await lines.next()).toMatchObject({ done: true });
    expect(delays.sort((a, b) => a - b)[10]).toBeLessThan(100);
  });

  test("ends immediately when the reader stops", async () => {
    const { jobDir, file } = createJobFolder();
    const output = await openWriter(jobDir);
    await output.append({ n: 1 });
    for await (const { message } of readOutput(file, { follow: new AbortController().signal })) {
      expect(message).toEqual({ n: 1 });
      break;
    }
  });
});
