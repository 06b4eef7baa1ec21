import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Gateway, GatewayOptions } from "../../packages/core/src/runner/gateway/gateway.ts";
import { allVersions, claudeBinary } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { realKey, startGatewayTo, waitUntil } from "./upstream-stand-in.ts";

/** A rehearsal behind a gateway, and an environment that only contains the gateway. */
async function startBehindGateway(script: Script, options: Partial<GatewayOptions> = {}) {
  const set = await startHarness({ script });
  const gateway = await startGatewayTo(set.rehearsal.url ?? "", options);
  const env: Record<string, string> = {
    ...set.env,
    ANTHROPIC_BASE_URL: gateway.baseUrl,
    ANTHROPIC_API_KEY: gateway.placeholder,
  };
  return { ...set, gateway, env };
}

const printEnvironmentScript: Script = {
  rules: [
    { match: { tool_result: "." }, reply: "I have looked." },
    {
      match: { prompt: "look" },
      reply: { tools: [{ name: "Bash", input: { command: "env; cat /proc/$PPID/environ" } }] },
    },
  ],
};

describe.each(allVersions)("claude %s behind the gateway", (version) => {
  test("sends the real key to the model and none to the agent's tools", async () => {
    const { claude, env, rehearsal, gateway } = await startBehindGateway(printEnvironmentScript);
    const run = await claude(version, ["look", "--permission-mode", "bypassPermissions"], { env });
    expect(run.result).toMatchObject({ is_error: false, result: "I have looked." });
    const keys = rehearsal.ledger.entries.flatMap((entry) => (entry.key ? [entry.key.value] : []));
    expect(new Set(keys)).toEqual(new Set([realKey]));
    expect(run.stdout).toContain("CLAUDE_CONFIG_DIR");
    expect(run.stdout + run.stderr).not.toContain(realKey);
    await waitUntil(() => gateway.meter().open === 0);
    const spent = rehearsal.ledger.main.map((entry) => entry.usage?.output_tokens ?? 0);
    expect(gateway.meter().usage?.output_tokens).toBe(spent.reduce((a, b) => a + b, 0));
    expect(gateway.meter()).toMatchObject({ refused: 0 });
  });

  test("works with a unix socket only", async () => {
    const folder = mkdtempSync(join(tmpdir(), "herdctl-gateway-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const socketPath = join(folder, "api.sock");
    const { claude, env, gateway } = await startBehindGateway({ default: "hello" }, { socketPath });
    const run = await claude(version, ["hi"], {
      // 197 sends absolute-form targets through a configured proxy, also over the socket.
      env: { ...env, ANTHROPIC_UNIX_SOCKET: socketPath, HTTP_PROXY: "http://127.0.0.1:9" },
    });
    expect(run.result).toMatchObject({ is_error: false, result: "hello" });
    expect(gateway.meter().requests).toBeGreaterThan(0);
  });

  test("replaces a bearer placeholder by the real token", async () => {
    const credential = { kind: "auth_token", value: realKey } as const;
    const { claude, env, rehearsal, gateway } = await startBehindGateway(
      { default: "hello" },
      { credential },
    );
    const { ANTHROPIC_API_KEY: _, ...others } = env;
    const run = await claude(version, ["hi"], {
      env: { ...others, ANTHROPIC_AUTH_TOKEN: gateway.placeholder },
    });
    expect(run.result).toMatchObject({ is_error: false });
    expect(rehearsal.ledger.main[0]?.key).toEqual({ kind: "bearer", value: realKey });
  });

  test("meters the retry delay that the binary does not report", async () => {
    const { claude, env, gateway } = await startBehindGateway({
      rules: [{ fault: { status: 429, headers: { "retry-after": "120" } } }],
    });
    const run = await claude(version, ["hi"], { env });
    expect(run.result).toMatchObject({ is_error: true });
    expect(gateway.meter().limit).toMatchObject({ status: 429, retryAfterMs: 120_000 });
    expect(gateway.meter().limit?.resetsAt).toBeGreaterThan(Date.now());
  });

  test("does not treat a truncated stream as an answer", async () => {
    const { claude, env, gateway } = await startBehindGateway({
      rules: [{ fault: { cut: { events: 3 }, times: 1 }, times: 1 }, { reply: "second try" }],
    });
    const run = await claude(version, ["hi"], { env });
    expect(run.result).toMatchObject({ is_error: false, result: "second try" });
    expect(gateway.meter().requests).toBeGreaterThan(1);
  });

  test("never forwards a wrong placeholder to the model", async () => {
    const { claude, env, rehearsal, gateway } = await startBehindGateway({ default: "hello" });
    const run = await claude(version, ["hi"], {
      env: { ...env, ANTHROPIC_API_KEY: "herdctl-other" },
      onStart: (child) => {
        void waitUntil(() => gateway.meter().refused > 0).then(() => child.kill());
      },
    });
    expect(run.result?.is_error ?? true).toBe(true);
    expect(rehearsal.ledger.main).toHaveLength(0);
  });
});

test("works with the SDK behind the gateway", async () => {
  const { env, rehearsal, workspace, gateway } = await startBehindGateway(printEnvironmentScript);
  const messages = await collectRun(gateway, env, workspace);
  expect(messages.at(-1)).toMatchObject({ type: "result", result: "I have looked." });
  expect(JSON.stringify(messages)).not.toContain(realKey);
  expect(new Set(rehearsal.ledger.main.map((entry) => entry.key?.value))).toEqual(
    new Set([realKey]),
  );
});

async function collectRun(gateway: Gateway, env: Record<string, string>, cwd: string) {
  const run = query({
    prompt: "look",
    options: {
      env,
      cwd,
      pathToClaudeCodeExecutable: claudeBinary("325"),
      permissionMode: "bypassPermissions",
      allowDangerouslySkipPermissions: true,
    },
  });
  const messages = [];
  for await (const message of run) messages.push(message);
  expect(gateway.meter().requests).toBeGreaterThan(0);
  return messages;
}
