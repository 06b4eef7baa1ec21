import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "@anthropic-ai/claude-agent-sdk";
import type { Script } from "@herdctl/rehearsal";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Gateway, GatewayOptions } from "../../packages/core/src/gateway/gateway.ts";
import { claudeBinary, everyVersion } from "../support/claude.ts";
import { stage } from "../support/stage.ts";
import { eventually, gatewayTo, realKey } from "./upstream.ts";

/** A rehearsal behind a gateway, and an environment that knows the gateway only. */
async function behindGateway(script: Script, options: Partial<GatewayOptions> = {}) {
  const set = await stage({ script });
  const gateway = await gatewayTo(set.rehearsal.url ?? "", options);
  const env: Record<string, string> = {
    ...set.env,
    ANTHROPIC_BASE_URL: gateway.baseUrl,
    ANTHROPIC_API_KEY: gateway.placeholder,
  };
  return { ...set, gateway, env };
}

const printEnvironment: Script = {
  rules: [
    { match: { tool_result: "." }, reply: "I have looked." },
    {
      match: { prompt: "look" },
      reply: { tools: [{ name: "Bash", input: { command: "env; cat /proc/$PPID/environ" } }] },
    },
  ],
};

describe.each(everyVersion)("claude %s behind the gateway", (version) => {
  test("the model sees the real key, the tools of the agent see none", async () => {
    const { claude, env, rehearsal, gateway } = await behindGateway(printEnvironment);
    const run = await claude(version, ["look", "--permission-mode", "bypassPermissions"], { env });
    expect(run.result).toMatchObject({ is_error: false, result: "I have looked." });
    const keys = rehearsal.ledger.entries.flatMap((entry) => (entry.key ? [entry.key.value] : []));
    expect(new Set(keys)).toEqual(new Set([realKey]));
    expect(run.stdout).toContain("CLAUDE_CONFIG_DIR");
    expect(run.stdout + run.stderr).not.toContain(realKey);
    await eventually(() => gateway.meter().open === 0);
    const spent = rehearsal.ledger.main.map((entry) => entry.usage?.output_tokens ?? 0);
    expect(gateway.meter().usage?.output_tokens).toBe(spent.reduce((a, b) => a + b, 0));
    expect(gateway.meter()).toMatchObject({ refused: 0 });
  });

  test("a unix socket is enough", async () => {
    const folder = mkdtempSync(join(tmpdir(), "herdctl-gateway-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const socketPath = join(folder, "api.sock");
    const { claude, env, gateway } = await behindGateway({ default: "hello" }, { socketPath });
    const run = await claude(version, ["hi"], {
      // 197 sends absolute-form targets when a proxy is named, over the socket too.
      env: { ...env, ANTHROPIC_UNIX_SOCKET: socketPath, HTTP_PROXY: "http://127.0.0.1:9" },
    });
    expect(run.result).toMatchObject({ is_error: false, result: "hello" });
    expect(gateway.meter().requests).toBeGreaterThan(0);
  });

  test("a bearer placeholder becomes the real token", async () => {
    const credential = { kind: "auth_token", value: realKey } as const;
    const { claude, env, rehearsal, gateway } = await behindGateway(
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

  test("the wait that the binary does not tell is in the meter", async () => {
    const { claude, env, gateway } = await behindGateway({
      rules: [{ fault: { status: 429, headers: { "retry-after": "120" } } }],
    });
    const run = await claude(version, ["hi"], { env });
    expect(run.result).toMatchObject({ is_error: true });
    expect(gateway.meter().limit).toMatchObject({ status: 429, retryAfterMs: 120_000 });
    expect(gateway.meter().limit?.resetsAt).toBeGreaterThan(Date.now());
  });

  test("a stream cut upstream is not taken for an answer", async () => {
    const { claude, env, gateway } = await behindGateway({
      rules: [{ fault: { cut: { events: 3 }, times: 1 }, times: 1 }, { reply: "second try" }],
    });
    const run = await claude(version, ["hi"], { env });
    expect(run.result).toMatchObject({ is_error: false, result: "second try" });
    expect(gateway.meter().requests).toBeGreaterThan(1);
  });

  test("a wrong placeholder never reaches the model", async () => {
    const { claude, env, rehearsal, gateway } = await behindGateway({ default: "hello" });
    const run = await claude(version, ["hi"], {
      env: { ...env, ANTHROPIC_API_KEY: "herdctl-other" },
      onStart: (child) => {
        void eventually(() => gateway.meter().refused > 0).then(() => child.kill());
      },
    });
    expect(run.result?.is_error ?? true).toBe(true);
    expect(rehearsal.ledger.main).toHaveLength(0);
  });
});

test("the SDK works behind the gateway", async () => {
  const { env, rehearsal, workspace, gateway } = await behindGateway(printEnvironment);
  const messages = await collect(gateway, env, workspace);
  expect(messages.at(-1)).toMatchObject({ type: "result", result: "I have looked." });
  expect(JSON.stringify(messages)).not.toContain(realKey);
  expect(new Set(rehearsal.ledger.main.map((entry) => entry.key?.value))).toEqual(
    new Set([realKey]),
  );
});

async function collect(gateway: Gateway, env: Record<string, string>, cwd: string) {
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
