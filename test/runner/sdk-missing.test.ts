import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { endOf } from "../cli/herdctl.ts";
import { claudeBinary } from "../support/claude.ts";
import { fleetHead } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { type Stage, stage } from "../support/stage.ts";

const core = resolve(import.meta.dirname, "../../packages/core");
const program = fileURLToPath(new URL("programs/run-agent.mjs", import.meta.url));

/** The built package as an installer would lay it out, with all its dependencies but the SDK. */
function coreWithoutSdk(): string {
  const folder = folderWith({});
  const installed = join(core, "node_modules");
  cpSync(join(core, "dist"), join(folder, "dist"), { recursive: true });
  for (const name of readdirSync(installed).flatMap((one) => packagesIn(installed, one))) {
    if (name === "@anthropic-ai/claude-agent-sdk") continue;
    mkdirSync(dirname(join(folder, "node_modules", name)), { recursive: true });
    symlinkSync(join(installed, name), join(folder, "node_modules", name));
  }
  return join(folder, "dist/index.mjs");
}

function packagesIn(installed: string, name: string): string[] {
  if (!name.startsWith("@")) return [name];
  return readdirSync(join(installed, name)).map((one) => `${name}/${one}`);
}

async function runWith(entry: string, on: Stage, runtime: string) {
  const fleet = folderWith({
    "herdctl.yaml": `${fleetHead}agents: [{ name: one, runtime: ${runtime} }]\n`,
  });
  const args = [program, entry, join(fleet, "herdctl.yaml"), claudeBinary("325")];
  const { stdout, stderr } = await endOf(spawn(process.execPath, args, { env: on.env }));
  return JSON.parse(stdout || expect.fail(stderr));
}

test("without the Agent SDK its runtime is missing, told with what to install and with its cause", async () => {
  const on = await stage();
  const entry = coreWithoutSdk();
  expect(await runWith(entry, on, "sdk")).toEqual({
    success: false,
    outcome: {
      code: "runtime_missing",
      message: "the package @anthropic-ai/claude-agent-sdk cannot be loaded",
      hint: expect.stringMatching(/npm install @anthropic-ai\/claude-agent-sdk.*runtime: cli/),
    },
    name: "SDKError",
    jobId: "job-test-program",
    causes: ["sdk_missing", "ERR_MODULE_NOT_FOUND"],
  });
  expect(on.rehearsal.ledger.entries).toEqual([]);

  expect(await runWith(entry, on, "cli")).toMatchObject({ outcome: { code: "success" } });
});
