import { closeSync, constants, openSync, writeSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const countSchema = z.number().nonnegative();

const modelCallSchema = z.object({
  model: z.string().optional(),
  input_tokens: countSchema,
  output_tokens: countSchema,
  cache_read_input_tokens: countSchema,
  cache_write_5m_tokens: countSchema,
  cache_write_1h_tokens: countSchema,
  web_searches: countSchema,
  fast: z.boolean(),
  us_only: z.boolean(),
  usd: countSchema,
  unknown_price: z.literal(true).optional(),
});

/** Every line has the complete state of a call; the last line of a call counts. */
const spendLogEntrySchema = z.object({
  call: z.number().int().positive(),
  at: z.iso.datetime(),
  parts: z.array(modelCallSchema),
});
export type SpendLogEntry = z.infer<typeof spendLogEntrySchema>;

export function spendLogPath(jobDir: string, attempt: number): string {
  return join(jobDir, `spend-${attempt}.jsonl`);
}

/**
 * Log of API calls, written before a call is forwarded, during its response, and at its end. Each line
 * is a single write, so a forwarded call is in the log even if the process is killed.
 */
export class SpendLog {
  private fd: number | undefined;
  private isClosed = false;

  constructor(private readonly path: string) {}

  append(line: SpendLogEntry): void {
    if (this.isClosed) return;
    try {
      this.fd ??= openSync(this.path, appendFlags, 0o600);
      writeSync(this.fd, `${JSON.stringify(line)}\n`);
    } catch {
      // A full disk ends the run anyway; the spending is still counted in memory.
      this.isClosed = true;
    }
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
    // A call that ends later no longer belongs to a turn.
    this.isClosed = true;
  }
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
const appendFlags = O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY;

/** The metered calls of an attempt. */
export async function readSpendLog(path: string): Promise<SpendLogEntry[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  const calls = new Map<number, SpendLogEntry>();
  for (const line of text.split("\n")) {
    const entry = parseEntry(line);
    if (entry) calls.set(entry.call, entry);
  }
  return [...calls.values()];
}

/** Undefined for an incomplete last line. */
function parseEntry(text: string): SpendLogEntry | undefined {
  try {
    return spendLogEntrySchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
