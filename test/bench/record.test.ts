import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { endOf } from "../cli/herdctl.ts";
import { folderWith } from "../support/folder.ts";

const checkout = resolve(import.meta.dirname, "../..");

const figure = z.number().nonnegative();
const recordSchema = z.strictObject({
  machine: z.strictObject({
    system: z.string(),
    cores: figure,
    memory_gb: figure,
    node: z.literal(process.versions.node),
    claude: z.string().regex(/^\d+\.\d+\.\d+$/),
  }),
  rows: z.array(
    z.looseObject({
      group: z.string(),
      bench: z.string(),
      what: z.string(),
      unit: z.string(),
      value: figure,
      samples: figure,
      date: z.iso.date(),
      commit: z.string().min(7),
      load: figure,
    }),
  ),
});

function bench(...args: string[]) {
  const program = join(checkout, "bench/run.mjs");
  return endOf(spawn(process.execPath, [program, "--quick", ...args], { env: process.env }));
}

test("what is measured anew replaces itself in the record, and the rest stays, in the order of the table", async () => {
  const file = join(folderWith({}), "speed.json");
  const read = () => recordSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  const first = await bench("installSize", "--json", file);
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining("installed, our own")]);
  const before = read().rows;
  await bench("messages", "--json", file);
  const { rows } = read();
  expect(rows.map(({ bench }) => bench)).toEqual(["messages", ...before.map(({ bench }) => bench)]);
  expect(rows.slice(1)).toEqual(before);
  expect(readFileSync(file, "utf8")).not.toContain(checkout);
});

test("a bench that there is not is an error with the names of those that there are", async () => {
  const { code, stderr } = await bench("nonsense");
  expect([code, stderr]).toEqual([2, expect.stringContaining("oneTurn, warmTurn")]);
});
