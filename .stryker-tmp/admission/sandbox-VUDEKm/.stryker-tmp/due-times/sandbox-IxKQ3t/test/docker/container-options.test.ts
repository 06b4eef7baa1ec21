import { once } from "node:events";
import { chownSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { containerUser, runJobInContainer, startDockerHarness } from "../support/docker-harness.ts";
import type { TestHarness } from "../support/harness.ts";
import { loadAgent, readJobMessages } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

test("applies the options of `docker` to the container, and shows no transcript of another agent", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const port = await listenOnLoopback();
  const [reading, writing] = [folderWithFile(harness, "reading"), folderWithFile(harness, "writing")];
  writeFileSync(join(harness.workspace, "file"), "");
  expect(await probe(harness, "one", port, "")).toEqual({
    "reads the workspace": "yes",
    "writes the workspace": "yes",
    "reads the volumes": "no",
    "writes the first volume": "no",
    "writes the second volume": "no",
    "reaches the host's loopback": "no",
    "processor time": "200000 100000",
    transcripts: "1",
  });
  const options = `, workspace_mode: ro, network: host, cpus: 0.5, volumes: ["${reading}:/r", "${writing}:/w:rw"]`;
  expect(await probe(harness, "two", port, options)).toEqual({
    "reads the workspace": "yes",
    "writes the workspace": "no",
    "reads the volumes": "yes",
    "writes the first volume": "no",
    "writes the second volume": "yes",
    "reaches the host's loopback": "yes",
    "processor time": "50000 100000",
    transcripts: "1",
  });
});

/** Lets the agent find out what its container allows. */
async function probe(harness: TestHarness, name: string, port: number, options: string) {
  const script = `
    report() { if eval "$2" 2> /dev/null; then echo "$1: yes"; else echo "$1: no"; fi; }
    report "reads the workspace" "cat /workspace/file"
    report "writes the workspace" "touch /workspace/new"
    report "reads the volumes" "cat /r/file /w/file"
    report "writes the first volume" "touch /r/new"
    report "writes the second volume" "touch /w/new"
    report "reaches the host's loopback" "exec 3<> /dev/tcp/127.0.0.1/${port}"
    cgroup=/sys/fs/cgroup
    quota=$(cat $cgroup/cpu.max 2> /dev/null || cat $cgroup/cpu/cpu.cfs_{quota,period}_us | xargs)
    echo "processor time: $quota"
    echo "transcripts: $(find / -name '*.jsonl' 2> /dev/null | wc -l)"`;
  const yaml = `docker: { enabled: true${options} }`;
  const { job } = await runJobInContainer(harness, {
    agent: { ...loadAgent(harness, yaml), name },
    prompt: toolCallPrompt(["Bash", { command: script }]),
  });
  expect(job.outcome?.code).toBe("success");
  const [output = '""'] = toolResultTexts(await readJobMessages(job));
  const lines: string[] = JSON.parse(output).trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split(": ")));
}

function folderWithFile(harness: TestHarness, name: string): string {
  const folder = join(harness.home, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "file"), "");
  chownSync(folder, containerUser.uid, containerUser.gid);
  return folder;
}

async function listenOnLoopback(): Promise<number> {
  const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : expect.fail("no port");
}
