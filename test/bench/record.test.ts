import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { waitForExit } from "../cli/run-herdctl.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const checkout = resolve(import.meta.dirname, "../..");

const number = z.number().nonnegative();
const figures = { median: number, p95: number };
const recordSchema = z.strictObject({
  machine: z.strictObject({
    system: z.string(),
    cores: number,
    memory_gb: number,
    node: z.literal(process.versions.node),
    claude: z.string().regex(/^\d+\.\d+\.\d+$/),
  }),
  rows: z.array(
    z.strictObject({
      measurement: z.string(),
      name: z.string(),
      unit: z.string(),
      ...figures,
      samples: number,
      baseline: z.strictObject({ name: z.string(), ...figures }),
      ratio: number.optional(),
      bound: z.string(),
      measured: number,
      held: z.boolean(),
      date: z.iso.date(),
      commit: z.string().min(7),
      load: number,
      quick: z.literal(true),
    }),
  ),
});

function bench(...args: string[]) {
  const program = join(checkout, "bench/run.mjs");
  return waitForExit(spawn(process.execPath, [program, "--quick", ...args], { env: process.env }));
}

test("replaces the rows of the measurement that ran, keeps the others and sorts by the table", async () => {
  const file = join(tempFolderWith({}), "speed.json");
  const read = () => recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  const { stdout } = await bench("messages", "--json", file);
  expect(stdout).toContain("messages to the log per second");

  const { machine, rows } = read();
  const [messages] = z.tuple([z.looseObject({})]).parse(rows);
  const others = ["browser-events", "webhooks", "removed"].map((measurement) => ({
    ...messages,
    measurement,
  }));
  const outdated = { ...messages, samples: 7 };
  writeFileSync(file, JSON.stringify({ machine, rows: [...others, outdated] }));
  await bench("messages", "--json", file);

  const [events, webhooks] = others;
  const updated = expect.objectContaining({ measurement: "messages", samples: 2 });
  expect(read().rows).toEqual([webhooks, updated, events]);
  expect(readFileSync(file, "utf8")).not.toContain(checkout);
});

test("rejects an unknown measurement and lists the known ones", async () => {
  const { code, stderr } = await bench("nonsense");
  expect([code, stderr]).toEqual([2, expect.stringContaining("host-jobs, pre-started")]);
});
