import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AskPerson } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { installMissing } from "../../scripts/docker-engine/install.mjs";
import { readJobMessages, runJob } from "../support/run-job.ts";
import {
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const sandboxPrograms = { bwrap: "bubblewrap", socat: "socat", curl: "curl" };

test.each(testSubset(["cli", "sdk"], 1))(
  "confines the commands of an agent with `sandbox` and asks for unknown hosts (%s)",
  { timeout: 120_000 },
  async (runtime) => {
    await installMissing(sandboxPrograms, "the sandbox");
    const harness = await startObedientHarness();
    const outside = join(harness.root, "outside");
    const secret = join(harness.home, "secret");
    mkdirSync(outside);
    writeFileSync(secret, "canary-in-file");
    const asked: string[] = [];
    const askPerson: AskPerson = async ({ tool, input }) => {
      asked.push(`${tool} ${JSON.stringify(input)}`);
      return "deny";
    };
    const yaml = `runtime: ${runtime}
permission_mode: default
allowed_tools: [Bash]
env: { TOKEN_OF_AGENT: canary-in-variable }
sandbox:
  network: { strict: false }
  filesystem: { deny_read: [${secret}] }
  credentials: { env_vars: [TOKEN_OF_AGENT] }`;
    const commands = [
      { command: "echo written > inside" },
      { command: `touch ${outside}/plain` },
      { command: `touch ${outside}/escaped`, dangerouslyDisableSandbox: true },
      { command: `cat ${secret}; printenv TOKEN_OF_AGENT` },
      { command: "curl -sS -m 5 http://unknown.example/" },
    ];
    const prompt = toolCallPrompt(...commands.map((input) => ["Bash", input] as [string, object]));
    const { job } = await runJob(harness, { yaml, prompt, askPerson });
    const results = toolResultTexts(await readJobMessages(job)).join("\n");
    expect(existsSync(join(harness.workspace, "inside")), results).toBe(true);
    expect(existsSync(join(outside, "plain"))).toBe(false);
    expect(existsSync(join(outside, "escaped"))).toBe(false);
    expect(results).toContain("Read-only file system");
    expect(results).not.toContain("canary");
    expect(asked.join()).toMatch(/SandboxNetworkAccess.*unknown\.example/);
  },
);

test("does not start a run whose sandbox cannot be set up", async () => {
  const harness = await startObedientHarness();
  const yaml = "runtime: cli\nsandbox: {}";
  const prompt = toolCallPrompt(["Bash", { command: "touch made" }]);
  const env = { PATH: join(harness.root, "empty") };
  const { job } = await runJob(harness, { yaml, prompt, env });
  expect(job.outcome).toMatchObject({
    code: "config_error",
    message: expect.stringContaining("bubblewrap (bwrap) not installed"),
    hint: expect.stringContaining("apt-get install bubblewrap socat"),
  });
  expect(existsSync(join(harness.workspace, "made"))).toBe(false);
});
