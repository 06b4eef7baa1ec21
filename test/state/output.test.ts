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
import { readOutput } from "../../packages/core/src/state/output-reader.ts";
import { openOutput } from "../../packages/core/src/state/output-writer.ts";
import { command, onCleanup, startProgram, tempFolder } from "./support.ts";

function jobFolder() {
  const jobDir = join(tempFolder(), "jobs", "job-1");
  return { jobDir, file: join(jobDir, "output.jsonl") };
}

async function writer(jobDir: string) {
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
  return { messages, offsets, skipped: reader.skipped };
}

describe("writing", () => {
  test("a log that has reached its size keeps results only, and says so once", async () => {
    const { jobDir, file } = jobFolder();
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

  test("a message is in the file, one line, once its promise resolves", async () => {
    const { jobDir, file } = jobFolder();
    const output = await writer(jobDir);
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

  test("what is not one line is refused, and so is everything after the close", async () => {
    const { jobDir } = jobFolder();
    const output = await writer(jobDir);
    await expect(output.appendRaw('{"a":\n1}')).rejects.toThrow(/one line/);
    await expect(output.appendRaw(Buffer.from("\n"))).rejects.toThrow(/one line/);
    await expect(output.appendRaw("")).rejects.toThrow(/one line/);
    await output.close();
    await output.close();
    await expect(output.append({})).rejects.toThrow(/closed/);
  });

  test("order is kept over sizes and kinds, though nobody waits in between", async () => {
    const line = fc.tuple(fc.constantFrom(0, 1, 100, 70_000, 1_500_000), fc.boolean());
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
        const { jobDir, file } = jobFolder();
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

  test("over 10,000 messages a second", async () => {
    const { jobDir, file } = jobFolder();
    const output = await writer(jobDir);
    const began = performance.now();
    for (let n = 0; n < 20_000; n++) {
      const written = output.append({ type: "assistant", n, text: "x".repeat(300) });
      if (n % 100 === 0) await written;
    }
    await output.close();
    expect(performance.now() - began).toBeLessThan(2_000);
    expect((await readAll(file)).messages).toHaveLength(20_000);
  });

  test("messages of 50 MB keep their place, without copies in memory or a standstill", async () => {
    const { jobDir, file } = jobFolder();
    const program = startProgram("write-huge-message", jobDir);
    const { grewMb, longestPause } = JSON.parse(await program.nextLine());
    await program.ended;
    expect(grewMb).toBeLessThan(100);
    expect(longestPause).toBeLessThan(1_000);
    expect(statSync(file).size).toBeGreaterThan(200 * 1024 * 1024);
    const types: unknown[] = [];
    for await (const { message } of readOutput(file)) types.push(message.type);
    expect(types).toEqual(Array.from({ length: 4 }, () => ["before", "huge", "after"]).flat());
  });

  test("a full disk fails the append, and is no reason to hang", async () => {
    const { jobDir, file } = jobFolder();
    mkdirSync(jobDir, { recursive: true });
    symlinkSync("/dev/full", file);
    const output = await writer(jobDir);
    await expect(output.append({ n: 1 })).rejects.toMatchObject({ code: "ENOSPC" });
    await expect(output.append({ n: 2 })).rejects.toMatchObject({ code: "ENOSPC" });
  });

  test("a line that was cut by a full disk stays apart from the next", async () => {
    const { jobDir, file } = jobFolder();
    const limited = spawnSync("bash", [
      "-c",
      `ulimit -f 4; "$@"`,
      "-",
      ...command("write-output", jobDir, "100"),
    ]);
    expect(limited.status).not.toBe(0);
    expect(String(limited.stderr)).toContain("EFBIG");
    expect(statSync(file).size).toBe(4096);
    const output = await writer(jobDir);
    await output.append({ number: "next" });
    const { messages, skipped } = await readAll(file);
    expect(skipped).toBe(1);
    expect(messages.at(-1)).toEqual({ number: "next" });
    expect(messages).toHaveLength(String(limited.stdout).trim().split("\n").length + 1);
  });
});

describe("reading", () => {
  test("a torn last line is not there yet; completed, it is", async () => {
    const { jobDir, file } = jobFolder();
    mkdirSync(jobDir, { recursive: true });
    writeFileSync(file, '{"n":1}\n{"n":');
    const first = await readAll(file);
    expect(first).toEqual({ messages: [{ n: 1 }], offsets: [8], skipped: 0 });
    appendFileSync(file, "2}\n");
    expect((await readAll(file, 8)).messages).toEqual([{ n: 2 }]);
  });

  test("a writer that goes on after a torn line does not run into it", async () => {
    const { jobDir, file } = jobFolder();
    mkdirSync(jobDir, { recursive: true });
    writeFileSync(file, '{"n":1}\n{"n":2,"text":"cut he');
    const output = await writer(jobDir);
    await output.append({ n: 3 });
    expect(await readAll(file)).toMatchObject({ messages: [{ n: 1 }, { n: 3 }], skipped: 1 });
  });

  test("torn, NUL and foreign lines in the middle are skipped and counted", async () => {
    const { jobDir, file } = jobFolder();
    mkdirSync(jobDir, { recursive: true });
    const lines = ['{"n":1}', '{"n":', "\0\0\0\0", "", "[1]", "null", '{"n":2}{"n":3}', '{"n":4}'];
    writeFileSync(file, `${lines.join("\n")}\n`);
    expect(await readAll(file)).toMatchObject({ messages: [{ n: 1 }, { n: 4 }], skipped: 5 });
  });

  test("each offset is a place to go on from", async () => {
    const { jobDir, file } = jobFolder();
    const output = await writer(jobDir);
    const sent = Array.from({ length: 50 }, (_, n) => ({ n, text: "ü".repeat(n * 500) }));
    for (const message of sent) await output.append(message);
    const { offsets } = await readAll(file);
    for (const [n, offset] of offsets.entries()) {
      expect((await readAll(file, offset)).messages).toEqual(sent.slice(n + 1));
    }
  });

  test("a log that is not there has no messages", async () => {
    expect((await readAll(jobFolder().file)).messages).toEqual([]);
    const unreadable = readAll(tempFolder());
    await expect(unreadable).rejects.toThrow(/EISDIR/);
  });
});

describe("following", () => {
  test("sees every line of a writer in another process once, from before its folder is there", async () => {
    const { jobDir, file } = jobFolder();
    const stop = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { message } of readOutput(file, { follow: stop.signal })) {
        seen.push(message.number);
      }
    })();
    const program = startProgram("write-output", jobDir, "3000");
    await program.ended;
    stop.abort();
    await reading;
    expect(seen).toEqual(Array.from({ length: 3000 }, (_, n) => n));
  });

  test("what a killed writer had acknowledged is there, and a second writer goes on", async () => {
    const { jobDir, file } = jobFolder();
    const program = startProgram("write-output", jobDir, "1000000");
    let last = 0;
    for await (const line of program.lines) {
      last = Number(line);
      if (last > 500) break;
    }
    await program.kill();
    const output = await writer(jobDir);
    await output.append({ number: "next" });
    const { messages } = await readAll(file);
    const numbers = messages.map((message) => (message as { number: unknown }).number);
    expect(numbers.slice(0, last + 1)).toEqual(Array.from({ length: last + 1 }, (_, n) => n));
    expect(numbers.at(-1)).toBe("next");
  });

  test("shows a line soon after it was written", async () => {
    const { jobDir, file } = jobFolder();
    const output = await writer(jobDir);
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

  test("ends at once when whoever reads has enough", async () => {
    const { jobDir, file } = jobFolder();
    const output = await writer(jobDir);
    await output.append({ n: 1 });
    for await (const { message } of readOutput(file, { follow: new AbortController().signal })) {
      expect(message).toEqual({ n: 1 });
      break;
    }
  });
});
