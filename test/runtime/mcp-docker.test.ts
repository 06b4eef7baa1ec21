import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inside } from "../../packages/core/src/runner/container/layout.ts";
import { richServer } from "../support/bridged.ts";
import { dockerStage, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { logOf, stateDirOf } from "../support/job.ts";
import { processesWith } from "../support/processes.ts";
import { initOf, obey, toolResults } from "../support/runtime.ts";

const engine = await testEngine();

describe.each(["sdk", "cli"])("runtime: %s", (runtime) => {
  test("servers of an agent in a container without network stay outside, with their secrets", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const secret = `secret-${randomUUID()}`;
    // Named in another spelling, so that the search does not find itself.
    const named = `$(echo ${Buffer.from(secret).toString("base64")} | base64 -d)`;
    const search = `grep -rlF "${named}" / --exclude-dir=proc --exclude-dir=sys 2>/dev/null`;
    const look = `env; cat /proc/*/environ; echo "files: $(${search} | wc -l)"`;
    const { job } = await runContained(on, {
      yaml: `runtime: ${runtime}
mcp_servers:
  rich: { command: node, args: ["${richServer}"], env: { SECRET: ${secret} } }
  inner: { command: ${inside.claude}, args: [mcp, serve], run: container }`,
      prompt: [
        obey(["mcp__rich__place", {}], ["mcp__inner__Bash", { command: "cat /proc/1/comm; pwd" }]),
        obey(["Bash", { command: look }]),
        obey(["mcp__rich__die", {}]),
      ].join("\n\n"),
    });
    expect(job.outcome).toMatchObject({ code: "success" });
    const messages = await logOf(job);
    expect(initOf(messages)?.mcp_servers).toMatchObject([
      { name: "inner", status: "connected" },
      { name: "rich", status: "connected" },
    ]);
    const [place = "", inner, seen] = toolResults(messages);
    expect(place).toContain("herdctl-");
    expect(place).not.toContain(on.workspace);
    expect(inner).toContain("/workspace");
    expect(seen).toContain("ANTHROPIC_UNIX_SOCKET");
    expect(seen).toContain("files: 0");
    expect(JSON.stringify(messages)).not.toContain(secret);
    const log = readFileSync(join(stateDirOf(on), "jobs", job.id, "stderr.log"), "utf8");
    expect(log).toContain("MCP server `rich`: it ended\n  I die of ***");
    expect(processesWith(`HERDCTL_RUN=${job.id}.`)).toEqual([]);
  });
});
