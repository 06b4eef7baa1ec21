import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { runJob } from "../support/run-job.ts";

/** A server on loopback that records all requests. */
async function startCanaryServer() {
  const seen: string[] = [];
  const note = ({ method, url }: IncomingMessage) => void seen.push(`${method} ${url}`);
  const server = createServer((request, response) => {
    note(request);
    response.writeHead(404).end();
  });
  server.on("connect", (request, socket) => {
    note(request);
    socket.destroy();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { seen, url: `http://127.0.0.1:${port}` };
}

/** User settings that would redirect a run away from its gateway. */
const settingsTakeovers: Record<string, (url: string) => object> = {
  "another API": (url) => ({ env: { ANTHROPIC_BASE_URL: url } }),
  "another API, and no host": (url) => ({
    env: { ANTHROPIC_BASE_URL: url, CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST: "0" },
  }),
  "another credential": () => ({
    env: { ANTHROPIC_AUTH_TOKEN: "other-token", ANTHROPIC_API_KEY: "other-key" },
    apiKeyHelper: "echo other-key",
  }),
  "a proxy": (url) => ({ env: { HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: "" } }),
  "another socket": () => ({ env: { ANTHROPIC_UNIX_SOCKET: "/nowhere/api.sock" } }),
  "another provider": (url) => ({
    env: {
      CLAUDE_CODE_USE_BEDROCK: "1",
      CLAUDE_CODE_SKIP_BEDROCK_AUTH: "1",
      ANTHROPIC_BEDROCK_BASE_URL: url,
    },
  }),
};

const programs = [
  { yaml: "runtime: sdk", version: "325" as const },
  { yaml: "runtime: cli", version: "325" as const },
  { yaml: "runtime: cli", version: "197" as const },
];

test.each(programs)(
  "keeps a run on its gateway despite user settings ($yaml $version)",
  async ({ yaml, version }) => {
    const harness = await startHarness({ script: { default: "Done." } });
    const canary = await startCanaryServer();
    for (const [what, settings] of Object.entries(settingsTakeovers)) {
      writeFileSync(join(harness.configDir, "settings.json"), JSON.stringify(settings(canary.url)));
      const { job } = await runJob(harness, { yaml, version });
      expect(job.outcome?.code, what).toBe("success");
      expect(harness.rehearsal.ledger.main.at(-1)?.key?.value, what).toBe("rehearsal-key");
    }
    expect(harness.rehearsal.ledger.main).toHaveLength(Object.keys(settingsTakeovers).length);
    expect(canary.seen).toEqual([]);
  },
);
