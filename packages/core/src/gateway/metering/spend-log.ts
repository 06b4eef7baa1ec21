import { closeSync, constants, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const count = z.number().nonnegative();

const modelCallSchema = z.object({
  model: z.string().optional(),
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_write_5m_tokens: count,
  cache_write_1h_tokens: count,
  web_searches: count,
  fast: z.boolean(),
  us_only: z.boolean(),
  usd: count,
});

/** Every line says all that is known of a call; the last line of a call counts. */
const spendLineSchema = z.object({
  call: z.number().int().positive(),
  at: z.iso.datetime(),
  parts: z.array(modelCallSchema),
});
export type SpendLine = z.infer<typeof spendLineSchema>;

export function spendLogPath(jobDir: string, attempt: number): string {
  return join(jobDir, `spend-${attempt}.jsonl`);
}

/**
 * Written before a call is forwarded, while its answer arrives, and at its end. Each line is one
 * write, so a forwarded call has a line here even if the process is killed.
 */
export class SpendLog {
  private file: number | undefined;
  private isClosed = false;

  constructor(private readonly path: string) {}

  append(line: SpendLine): void {
    if (this.isClosed) return;
    try {
      this.file ??= openSync(this.path, appendOnly, 0o600);
      writeSync(this.file, `${JSON.stringify(line)}\n`);
    } catch {
      // A full disk ends the run by itself; what it spent is still counted in memory.
      this.isClosed = true;
    }
  }

  close(): void {
    if (this.file !== undefined) closeSync(this.file);
    // A call that ends later belongs to no turn any more.
    this.isClosed = true;
  }
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
const appendOnly = O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY;

/** The calls of an attempt; none when no call passed the gateway. */
export async function readSpendLog(path: string): Promise<SpendLine[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  const calls = new Map<number, SpendLine>();
  for (const written of text.split("\n")) {
    const line = readLine(written);
    if (line) calls.set(line.call, line);
  }
  return [...calls.values()];
}

/** The last line may be torn. */
function readLine(text: string): SpendLine | undefined {
  try {
    return spendLineSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
