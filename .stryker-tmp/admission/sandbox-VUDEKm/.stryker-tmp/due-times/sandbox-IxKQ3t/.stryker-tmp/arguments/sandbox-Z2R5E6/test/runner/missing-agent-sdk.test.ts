import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { waitForExit } from "../cli/run-herdctl.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { fleetHeader } from "../support/fleet-config.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const core = resolve(import.meta.dirname, "../../packages/core");
const program = fileURLToPath(new URL("programs/run-agent.mjs", import.meta.url));

/** The built package as installed, with all its dependencies except the SDK. */
function coreWithoutSdk(): string {
  const folder = tempFolderWith({});
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

async function runWith(entry: string, harness: TestHarness, runtime: string) {
  const fleet = tempFolderWith({
    "herdctl.yaml": `${fleetHeader}agents: [{ name: one, runtime: ${runtime} }]\n`,
  });
  const args = [program, entry, join(fleet, "herdctl.yaml"), claudeBinary("325")];
  const { stdout, stderr } = await waitForExit(spawn(process.execPath, args, { env: harness.env }));
  return JSON.parse(stdout || expect.fail(stderr));
}

test("reports a missing Agent SDK with what to install and with the cause", async () => {
  const harness = await startHarness();
  const entry = coreWithoutSdk();
  expect(await runWith(entry, harness, "sdk")).toEqual({
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
  expect(harness.rehearsal.ledger.entries).toEqual([]);

  expect(await runWith(entry, harness, "cli")).toMatchObject({ outcome: { code: "success" } });
});
