import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { runJob } from "../support/run-job.ts";

const broken = "mcp_servers: { weather: { command: /nowhere/server } }\n";

test.each(["sdk", "cli"])(
  "a required MCP server that does not start ends the run (%s)",
  async (runtime) => {
    const harness = await startHarness({ mode: "obedient" });
    const { job } = await runJob(harness, {
      yaml: `runtime: ${runtime}\n${broken}allowed_tools: [mcp__weather__today]\n`,
    });
    expect(job.outcome).toMatchObject({
      code: "mcp_failed",
      message: "The MCP server `weather` is not available.",
    });
    expect(job.warnings).toEqual(["the MCP server `weather` did not start: its tools are missing"]);
  },
);

test("an optional MCP server and a plugin that cannot be loaded are warnings", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { job } = await runJob(harness, {
    yaml: `runtime: cli\n${broken}plugins: [/nowhere/plugin]\n`,
  });
  expect(job.outcome?.code).toBe("success");
  expect(job.warnings).toEqual([
    "the MCP server `weather` did not start: its tools are missing",
    expect.stringContaining("the plugin /nowhere/plugin was not loaded:"),
  ]);
});
