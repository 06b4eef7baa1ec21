import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenOnLoopback } from "../gateway/listen.ts";
import { importDocker } from "../runner/container/engine.ts";
import type { RunReport } from "../runner/run-report.ts";
import { Launcher } from "../runner/runtime/launcher.ts";
import { importSdk } from "../runner/runtime/sdk-runtime.ts";
import { currentProcess } from "../state/process-identity.ts";
import { carryOut } from "./carry-out.ts";
import { GettingReady } from "./getting-ready.ts";
import { LiveRun } from "./live-run.ts";
import { practiceOrder, type RuntimeType } from "./practice-order.ts";
import type { LibrariesAhead } from "./program.ts";
import { readReport } from "./recover.ts";

export interface WarmUpOptions extends LibrariesAhead {
  /** Where this process alone may leave files for a moment. */
  scratch: string;
  /** There is work now, which more practice would hold up. */
  isGiven(): boolean;
}

/**
 * Goes through what every run goes through. Node loads and compiles code when it first runs,
 * and that takes more time than the steps themselves.
 */
export async function warmUp(options: WarmUpOptions): Promise<void> {
  const dockerLoaded = options.docker && importDocker();
  const api = createServer((_, response) => response.end());
  try {
    const address = await listenOnLoopback(api);
    await Promise.all([practiseRuns(options, address), dockerLoaded]);
  } finally {
    api.close();
  }
}

async function practiseRuns({ scratch, sdk, isGiven }: WarmUpOptions, api: string): Promise<void> {
  // Whoever lacks the SDK hears of it when an agent needs it.
  const sdkLoaded = sdk && importSdk().catch(() => undefined);
  await practiseRun(scratch, "cli", api);
  if ((await sdkLoaded) && !isGiven()) await practiseRun(scratch, "sdk", api);
}

/** What a stand-in of claude came to. The real API hears nothing of it. */
export async function practiseRun(
  folder: string,
  runtime: RuntimeType,
  api: string,
): Promise<RunReport | undefined> {
  const order = practiceOrder(folder, runtime);
  try {
    // Not what is around it: where that is gone, somebody removed it when our fleet was dead.
    await mkdir(folder, { mode: 0o700 });
    await writeFile(order.claude.path, standIn, { mode: 0o700 });
    const { PATH = "" } = process.env;
    const environment = { PATH, ANTHROPIC_API_KEY: "practice", ANTHROPIC_BASE_URL: api };
    const assignment = { stateDir: folder, order, environment };
    const launcher = new Launcher(currentProcess());
    await carryOut(assignment, new LiveRun(), new GettingReady(assignment, launcher.spawn));
    return await readReport(join(folder, "jobs", order.jobId), order.attempt);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const usage = { input_tokens: 0, output_tokens: 0 };

const said = [
  { type: "system", subtype: "init", session_id: "practice", model: "none", tools: [] },
  { type: "assistant", message: { id: "1", content: [{ type: "text", text: "Done." }], usage } },
  {
    type: "result",
    subtype: "success",
    is_error: false,
    result: "Done.",
    num_turns: 1,
    total_cost_usd: 0,
    usage,
    modelUsage: {},
    permission_denials: [],
  },
];

/** The SDK asks something before its prompt, and waits for the answer. */
const standIn = `#!/bin/sh
read -r asked
id=\${asked#*'"request_id":"'}
printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\\n' "\${id%%'"'*}"
cat <<'end'
${said.map((message) => JSON.stringify(message)).join("\n")}
end
`;
